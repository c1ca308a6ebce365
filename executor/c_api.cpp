// SPDX-License-Identifier: MIT
// hone.h on top of executor.h: no exception leaves, the message of the last failure stays with the calling thread.
#include <exception>
#include <utility>

#include "executor/executor.h"
#include "executor/hone.h"
#include "executor/text.h"

struct hone_model {
  std::shared_ptr<const hone::Model> model;
};

struct hone_context {
  std::unique_ptr<hone::Context> context;
};

namespace {

using hone::Error;
using hone::Plan;

thread_local std::string last_error;

template <typename Body>
int guarded(const Body& body) {
  try {
    body();
    return 0;
  } catch (const std::bad_alloc&) {
    last_error = "out of memory";  // fits without an allocation
  } catch (const std::exception& error) {
    last_error = error.what();
  } catch (...) {
    last_error = "unknown error";
  }
  return -1;
}

void require(const void* argument, const char* name) {
  if (argument == nullptr)
    throw Error("cannot call hone", hone::concatenate({name, " is NULL"}), "pass a valid pointer");
}

void describe(const Plan& plan, const std::vector<hone::PlanTensor>& tensors, int index, hone_tensor_info* info) {
  require(info, "info");
  if (index < 0 || static_cast<size_t>(index) >= tensors.size()) {
    throw Error(hone::concatenate({"cannot describe tensor ", hone::decimal(index), " of ", plan.name}),
                hone::concatenate({"there are ", hone::decimal(static_cast<int64_t>(tensors.size()))}), "count from 0");
  }
  const hone::PlanTensor& tensor = tensors[static_cast<size_t>(index)];
  const hone::PlanView& view = plan.views[tensor.view];
  *info = {.name = tensor.name.c_str(),
           .dtype = static_cast<int>(view.dtype),
           .rank = static_cast<int>(view.extents.size()),
           .shape = view.extents.data(),
           .strides = view.strides.data(),
           .bytes = plan.storages[view.storage].bytes};
}

}  // namespace

extern "C" {

const char* hone_last_error(void) {
  return last_error.c_str();
}

int hone_model_load(const hone_kernel_table* table, const char* plan_file, hone_model** model) {
  return guarded([&] {
    require(table, "table");
    require(plan_file, "plan_file");
    require(model, "model");
    *model = new hone_model{hone::Model::load(*table, plan_file)};
  });
}

void hone_model_free(hone_model* model) {
  delete model;
}

int hone_model_input_count(const hone_model* model) {
  return model == nullptr ? 0 : static_cast<int>(model->model->plan().inputs.size());
}

int hone_model_output_count(const hone_model* model) {
  return model == nullptr ? 0 : static_cast<int>(model->model->plan().outputs.size());
}

int hone_model_input(const hone_model* model, int index, hone_tensor_info* info) {
  return guarded([&] {
    require(model, "model");
    describe(model->model->plan(), model->model->plan().inputs, index, info);
  });
}

int hone_model_output(const hone_model* model, int index, hone_tensor_info* info) {
  return guarded([&] {
    require(model, "model");
    describe(model->model->plan(), model->model->plan().outputs, index, info);
  });
}

int hone_context_create(hone_model* model, int threads, hone_context** context) {
  return guarded([&] {
    require(model, "model");
    require(context, "context");
    *context = new hone_context{hone::Context::create(model->model, {.threads = threads})};
  });
}

void hone_context_free(hone_context* context) {
  delete context;
}

int hone_set_input(hone_context* context, int index, const void* data) {
  return guarded([&] {
    require(context, "context");
    context->context->set_input(index, data);
  });
}

int hone_set_output(hone_context* context, int index, void* data) {
  return guarded([&] {
    require(context, "context");
    context->context->set_output(index, data);
  });
}

const void* hone_output(const hone_context* context, int index) {
  const void* data = nullptr;
  guarded([&] {
    require(context, "context");
    data = context->context->output(index);
  });
  return data;
}

int hone_run(hone_context* context) {
  return guarded([&] {
    require(context, "context");
    context->context->run();
  });
}
}
