// A case that compiles: the harness must refuse it.
// expect: error
int main() {}
