// A case that fails for another reason than the one it states: the harness must refuse it.
// expect: the moon is made of cheese
#ifdef PASS
int main() {}
#else
int main() {
    return nothing_of_this_name;
}
#endif
