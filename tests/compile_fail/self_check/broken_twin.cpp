// A case whose passing twin fails as well: the harness must refuse it.
// expect: nothing_of_this_name
int main() {
    return nothing_of_this_name;
}
