// The version of the headers cannot be changed by a program.
// expect: read-only|const-qualified
#include <stowage/version.hpp>

int main() {
#ifdef PASS
    auto copy = stowage::version;
    copy.major = 7;
#else
    stowage::version.major = 7;
#endif
}
