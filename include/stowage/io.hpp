#pragma once
// The io room: files and texts in, files and texts out. Needs nlohmann-json and zlib (target stowage::json).

#include <stowage/io/access_list.hpp>
#include <stowage/io/file.hpp>
