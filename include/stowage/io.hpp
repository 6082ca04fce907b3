#pragma once
// The io room: files and texts in, files and texts out. Needs nlohmann-json and zlib (target stowage::json).

#include <stowage/io/access_list.hpp>
#include <stowage/io/atomic_file.hpp>
#include <stowage/io/dot.hpp>
#include <stowage/io/file.hpp>
#include <stowage/io/html.hpp>
#include <stowage/io/layout_csv.hpp>
#include <stowage/io/layout_picture.hpp>
#include <stowage/io/machine_file.hpp>
#include <stowage/io/memgraph_file.hpp>
#include <stowage/io/memgraph_picture.hpp>
#include <stowage/io/picture.hpp>
#include <stowage/io/plan_file.hpp>
#include <stowage/io/proof_file.hpp>
#include <stowage/io/simulation_trace.hpp>
#include <stowage/io/subgraph_bands.hpp>
#include <stowage/io/svg.hpp>
