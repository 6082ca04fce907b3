// A case that does not say which message it expects: the harness must refuse it.
#ifdef PASS
int main() {}
#else
int main() {
    return nothing_of_this_name;
}
#endif
