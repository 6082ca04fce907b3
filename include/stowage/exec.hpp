#pragma once
// The exec room: memgraphs run, on the host or in virtual time. CUDA is apart: <stowage/exec/cuda.hpp>.

#include <stowage/exec/device.hpp>
#include <stowage/exec/event.hpp>
#include <stowage/exec/executor.hpp>
#include <stowage/exec/fault.hpp>
#include <stowage/exec/fwd.hpp>
#include <stowage/exec/host_device.hpp>
#include <stowage/exec/injection.hpp>
#include <stowage/exec/inline_device.hpp>
#include <stowage/exec/kernel.hpp>
#include <stowage/exec/kernel_task.hpp>
#include <stowage/exec/lane.hpp>
#include <stowage/exec/notifier.hpp>
#include <stowage/exec/priority.hpp>
#include <stowage/exec/report.hpp>
#include <stowage/exec/run_options.hpp>
#include <stowage/exec/simulated_device.hpp>
#include <stowage/exec/synthetic_contents.hpp>
