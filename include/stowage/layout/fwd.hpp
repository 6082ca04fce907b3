#pragma once
// Names of the layout room, for headers that only mention them.

namespace stowage::layout {

struct buffer;
struct problem;
struct solution;
struct context;

}  // namespace stowage::layout
