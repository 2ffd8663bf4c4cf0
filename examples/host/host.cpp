// A host application: compiles a kernel from text, looks at it, runs it on arrays of its own, and launches it
// on device memory and a stream.
#include <tenon/tenon.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace {

constexpr const char* kSource = R"(
// Softmax of each row, after a scale.
kernel scaled_softmax(scale: f32, x: f32[M, N]) -> (y: f32[M, N]) {
  s[i, j] = scale * x[i, j]
  e[i, j] = exp(s[i, j] - max[k](s[i, k]))
  y[i, j] = e[i, j] / sum[k](e[i, k])
}
)";

constexpr const char* kBroken = R"(
kernel broken(x: f32[N]) -> (y: f32[N]) { y[i] = x[i] + z[i] }
)";

int report(const tenon::Failure& failure) {
  std::fprintf(stderr, "%s\n", failure.message.c_str());
  return 1;
}

// A mistake in a program comes back as text for people and as data for tools.
void show_mistakes() {
  tenon::CompileOptions options;
  options.file_name = "broken.tn";
  tenon::Expected<tenon::Kernel> kernel = tenon::Kernel::compile(kBroken, options);
  if (kernel) return;
  for (const tenon::Message& message : kernel.failure().messages)
    std::printf("%s at %s:%u:%u: %s\n", message.code.c_str(), message.file.c_str(), message.line,
                message.column, message.text.c_str());
}

void describe(const tenon::Kernel& kernel) {
  std::printf("kernel %s for %s\n", kernel.name().c_str(), kernel.target().c_str());
  for (const tenon::ParameterInfo& parameter : kernel.parameters())
    std::printf("  %s %s\n", parameter.role == tenon::ParameterRole::kResult ? "result" : "input ",
                parameter.source.c_str());
  for (const tenon::SizeInfo& size : kernel.sizes())
    std::printf("  size   %s%s\n", size.name.c_str(), size.bound_by_shape ? ", from shapes" : "");
  for (const tenon::StepInfo& step : kernel.steps()) std::printf("  step   %s\n", step.name.c_str());
}

void print_row(const char* title, const float* row, int64_t count) {
  std::printf("%s:", title);
  for (int64_t i = 0; i < count; ++i) std::printf(" %.4f", static_cast<double>(row[i]));
  std::printf("\n");
}

// Tenon copies to the device and back.
tenon::Status run_on_arrays(const tenon::Kernel& kernel, const tenon::Device& device, std::vector<float>& x,
                            std::vector<float>& y, int64_t rows, int64_t columns) {
  return kernel.run(device, {{"scale", tenon::Scalar(0.5f)},
                             {"x", tenon::HostTensor(x.data(), {rows, columns})},
                             {"y", tenon::HostTensor(y.data(), {rows, columns})}});
}

// The host owns memory and stream. One that uses CUDA already passes its own: a CUdeviceptr, a CUstream.
tenon::Status launch_on_device(const tenon::Kernel& kernel, tenon::Device device, const std::vector<float>& x,
                               std::vector<float>& y, int64_t rows, int64_t columns) {
  const size_t bytes = x.size() * sizeof(float);
  tenon::Expected<void*> stream = device.create_stream();
  if (!stream) return stream.failure();
  tenon::Expected<uint64_t> input = device.allocate(bytes);
  if (!input) return input.failure();
  tenon::Expected<uint64_t> output = device.allocate(bytes);
  if (!output) return output.failure();
  if (tenon::Status done = device.copy_to_device(*input, x.data(), bytes); !done) return done;

  const tenon::Shape shape = {rows, columns};
  const std::vector<tenon::DeviceArgument> arguments = {
      {"scale", tenon::Scalar(1.0f)},
      {"x", tenon::DeviceTensor{*input, tenon::DataType::kF32, shape}},
      {"y", tenon::DeviceTensor{*output, tenon::DataType::kF32, shape}}};
  tenon::LaunchOptions options;
  options.stream = *stream;
  if (tenon::Status done = kernel.launch(device, arguments, options); !done) return done;
  if (tenon::Status done = device.synchronize(); !done) return done;

  if (tenon::Status done = device.copy_to_host(y.data(), *output, bytes); !done) return done;
  if (tenon::Status done = device.release(*input); !done) return done;
  if (tenon::Status done = device.release(*output); !done) return done;
  return device.destroy_stream(*stream);
}

}  // namespace

int main(int argc, char** argv) {
  show_mistakes();

  // The emulated device by `host emulator`; else a GPU where there is one.
  const bool emulated = argc > 1 && std::string(argv[1]) == "emulator";
  tenon::Expected<tenon::Device> device = emulated ? tenon::Device::emulated() : tenon::Device::open();
  if (!device) return report(device.failure());
  tenon::CompileOptions options;
  options.target = device->target();
  tenon::Expected<tenon::Kernel> kernel = tenon::Kernel::compile(kSource, options);
  if (!kernel) return report(kernel.failure());
  describe(*kernel);

  const int64_t rows = 2, columns = 4;
  std::vector<float> x = {0, 1, 2, 3, 3, 3, 3, 3};
  std::vector<float> y(x.size());
  if (tenon::Status done = run_on_arrays(*kernel, *device, x, y, rows, columns); !done)
    return report(done.failure());
  print_row("run, scale 0.5, row 0", y.data(), columns);
  print_row("run, scale 0.5, row 1", y.data() + columns, columns);
  if (tenon::Status done = launch_on_device(*kernel, *device, x, y, rows, columns); !done)
    return report(done.failure());
  print_row("launch, scale 1, row 0", y.data(), columns);

  // What does not fit is refused with a reason, and nothing is launched.
  tenon::Status refused = run_on_arrays(*kernel, *device, x, y, rows, -1);
  if (!refused) std::printf("refused: %s\n", refused.failure().message.c_str());
  return 0;
}
