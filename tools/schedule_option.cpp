#include "tools/schedule_option.h"

#include "tools/source_file.h"

namespace tenon::tools {

void ScheduleOption::add_to(CLI::App& app) {
  app.add_option("--schedule", text_,
                 "Pin parts of how it is run, as explain prints them: \"k = serial repeat(32)\",\n"
                 "\"step 1: warps(8)\"; what is left out is chosen")
      ->type_name("TEXT")
      ->check([](const std::string& text) {
        return std::string(text.empty() ? "a schedule has to say something" : "");
      });
}

Result<void> ScheduleOption::apply(SourceManager& sources, const std::vector<ir::Kernel>& kernels,
                                   api::CompilerOptions& options) {
  if (!given()) return {};
  if (kernels.size() > 1)
    return fail(ErrorKind::kUsage,
                "the file has several kernels; choose one by --kernel to give it a schedule");
  pins_ = passes::parse_schedule(sources.add("--schedule", text_), sources, diagnostics_);
  // What could be read of a text with mistakes is not what is meant.
  if (diagnostics_.has_errors()) return {};
  options.schedule = &pins_;
  options.schedule_diagnostics = &diagnostics_;
  return {};
}

bool ScheduleOption::has_errors(const SourceManager& sources, const SourceOptions& how) {
  bool wrong = diagnostics_.has_errors();
  if (!diagnostics_.all().empty()) print_diagnostics(diagnostics_, sources, how);
  diagnostics_.clear();
  return wrong;
}

}  // namespace tenon::tools
