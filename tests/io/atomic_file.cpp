#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <stowage/io/atomic_file.hpp>
#include <stowage/io/file.hpp>
#include <string>
#include <utility>

#include "support/error_text.hpp"
#include "support/temporary_folder.hpp"

namespace io = stowage::io;
using stowage::test::error_text;

TEST_CASE("contents appear at commit, and only then") {
    const stowage::test::temporary_folder folder;
    {
        io::atomic_file file(folder / "a", "new");
        CHECK_FALSE(file.is_written_in_place());
        CHECK(io::atomic_file("-", "new").is_written_in_place());
        CHECK(io::atomic_file("/dev/full", "new").is_written_in_place());
        CHECK_FALSE(std::filesystem::exists(folder / "a"));
        io::atomic_file moved(std::move(file));
        moved.commit();
    }
    CHECK(io::read_file(folder / "a") == "new");
    { io::atomic_file forgotten(folder / "a", "newer"); }
    CHECK(io::read_file(folder / "a") == "new");
    CHECK(folder.size() == 1);
    io::write_file(folder / "a", "newest");
    CHECK(io::read_file(folder / "a") == "newest");
    CHECK(folder.size() == 1);
}

TEST_CASE("several files of one name at once do not disturb one another") {
    const stowage::test::temporary_folder folder;
    io::atomic_file first(folder / "a", "1");
    io::atomic_file second(folder / "a", "2");
    second.commit();
    first.commit();
    CHECK(io::read_file(folder / "a") == "1");
    CHECK(folder.size() == 1);
}

TEST_CASE("what cannot be written is an error that names the file and leaves nothing behind") {
    const stowage::test::temporary_folder folder;
    CHECK(error_text<io::file_error>([&] { io::write_file(folder / "none/a", "x"); }) ==
          (folder / "none/a").string() + ": cannot be created: No such file or directory");
    CHECK(error_text<io::file_error>([&] { io::write_file(folder.path(), "x"); }) ==
          folder.path().string() + ": is a folder");
    CHECK(error_text<io::file_error>([&] { io::write_file("/dev/full", "x"); }) ==
          "/dev/full: cannot be written: No space left on device");
    CHECK(folder.size() == 0);
}

TEST_CASE("a file that grows too large leaves nothing behind, and the old one as it was") {
    const stowage::test::temporary_folder folder;
    io::write_file(folder / "a", "old");
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    rlimit small = before;
    small.rlim_cur = 1000;
    const auto handler = signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    const std::string text =
        error_text<io::file_error>([&] { io::write_file(folder / "a", std::string(5000, 'x')); });
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    CHECK(text == (folder / "a").string() + ": cannot be written: File too large");
    CHECK(io::read_file(folder / "a") == "old");
    CHECK(folder.size() == 1);
}

TEST_CASE("devices are written in place, links are followed, permissions are kept") {
    const stowage::test::temporary_folder folder;
    io::write_file("/dev/null", "x");
    CHECK(std::filesystem::is_character_file("/dev/null"));
    io::write_file(folder / "target", "old");
    std::filesystem::permissions(folder / "target",
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    std::filesystem::create_symlink("target", folder / "link");
    io::write_file(folder / "link", "new");
    CHECK(std::filesystem::is_symlink(folder / "link"));
    CHECK(io::read_file(folder / "target") == "new");
    CHECK(std::filesystem::status(folder / "target").permissions() ==
          (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
}
