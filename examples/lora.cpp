// A LoRA training step of LLaMA with AdamW and real arithmetic on the host or on CUDA, in memory and under
// ever less of it: the updated weights are the same bit for bit at every capacity and in every order.
// Example: lora --layers 4

#include "llama_main.hpp"

int main(int argc, char** argv) {
    return examples::run_llama(argc, argv, "Runs a LoRA training step in memory and under less of it.", {},
                               examples::llama_lora_step);
}
