// LLaMA's first-token pass with real arithmetic on the host or on CUDA, in memory and under ever less of it:
// the results are the same bit for bit at every capacity and in every order. Example: llama --layers 8
// --devices 2
// --devices 2

#include "llama_main.hpp"

int main(int argc, char** argv) {
    return examples::run_llama(argc, argv, "Runs LLaMA's first-token pass in memory and under less of it.",
                               {}, examples::llama_prefill);
}
