/* SPDX-License-Identifier: MIT
 * hone's C interface: link libhone_executor and one or more bundles, load, run.
 * Every function that can fail returns 0 or a negative code and keeps a message: hone_last_error() of the calling
 * thread. */
#ifndef HONE_H
#define HONE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hone_kernel_table;
typedef struct hone_model hone_model;
typedef struct hone_context hone_context;

/* Describes a model input or output. Strings and arrays live as long as the model. Shape in ONNX order, strides in
 * elements. */
typedef struct hone_tensor_info {
  const char* name;
  int dtype; /* hone::DType: 1 f32, 2 f64, 5 i8, 6 u8, 9 i32, 11 i64, 13 bool */
  int rank;
  const int64_t* shape;
  const int64_t* strides;
  size_t bytes;
} hone_tensor_info;

const char* hone_last_error(void);

int hone_model_load(const struct hone_kernel_table* table, const char* plan_file, hone_model** model);
void hone_model_free(hone_model* model); /* contexts keep what they need */
int hone_model_input_count(const hone_model* model);
int hone_model_output_count(const hone_model* model);
int hone_model_input(const hone_model* model, int index, hone_tensor_info* info);
int hone_model_output(const hone_model* model, int index, hone_tensor_info* info);

int hone_context_create(hone_model* model, int threads, hone_context** context);
void hone_context_free(hone_context* context);
int hone_set_input(hone_context* context, int index, const void* data);
int hone_set_output(hone_context* context, int index, void* data);
const void* hone_output(const hone_context* context, int index);
int hone_run(hone_context* context);

#ifdef __cplusplus
}
#endif
#endif
