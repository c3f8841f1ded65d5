/* A stand-in for NVIDIA's libnvidia-ml.so.1: what the calls below answer is read from the file named by NVML_SCRIPT at
 * each call, lines of key=value. Keys of one GPU begin with its number: 0.temperature=65. `gpus` is their count.
 * `init.error` and `N.error` (or `N.FUNCTION.error`) are NVML error codes; a key that is missing gives "not supported".
 * `N.process.K=PID,BYTES,UTILIZATION,compute|graphics` are the programs on GPU N, K from 0 on.
 * Structures and names: NVML API reference, developer.nvidia.com. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, INVALID = 2, NOT_SUPPORTED = 3, NO_PERMISSION = 4, NOT_FOUND = 6, TOO_SMALL = 7 };

typedef struct { unsigned gpu, memory; } utilization;
typedef struct { unsigned long long total, free, used; } memory;
typedef struct { unsigned pid; unsigned long long bytes; unsigned instance, compute_instance; } process;
typedef struct { unsigned pid; unsigned long long at; unsigned sm, memory, encoder, decoder; } sample;

static int look_up(const char *key, char *value, size_t size) {
    char line[512];
    const char *name = getenv("NVML_SCRIPT");
    FILE *script = name ? fopen(name, "r") : NULL;
    int found = 0;
    while (script && !found && fgets(line, sizeof line, script)) {
        char *equals = strchr(line, '=');
        if (!equals) continue;
        *equals = 0;
        if (strcmp(line, key)) continue;
        equals[1 + strcspn(equals + 1, "\n")] = 0;
        snprintf(value, size, "%s", equals + 1);
        found = 1;
    }
    if (script) fclose(script);
    return found;
}

static int number(const char *key, double *value) {
    char text[256];
    if (!look_up(key, text, sizeof text)) return NOT_SUPPORTED;
    *value = atof(text);
    return OK;
}

static int refusal(const void *gpu, const char *what) {
    char key[128];
    double code = 0;
    snprintf(key, sizeof key, "%ld.error", (long)gpu - 1);
    if (number(key, &code) == OK && code) return (int)code;
    snprintf(key, sizeof key, "%ld.%s.error", (long)gpu - 1, what);
    return number(key, &code) == OK ? (int)code : OK;
}

static int ask(const void *gpu, const char *what, double *value) {
    char key[128];
    int refused = refusal(gpu, what);
    if (refused) return refused;
    snprintf(key, sizeof key, "%ld.%s", (long)gpu - 1, what);
    return number(key, value);
}

static int ask_unsigned(const void *gpu, const char *what, unsigned *value) {
    double found = 0;
    int code = ask(gpu, what, &found);
    if (code == OK) *value = (unsigned)found;
    return code;
}

static int initialize(void) {
    double code = 0;
    return number("init.error", &code) == OK ? (int)code : OK;
}

int nvmlInitWithFlags(unsigned flags) { (void)flags; return initialize(); }
int nvmlInit_v2(void) { return initialize(); }
int nvmlShutdown(void) { return OK; }
const char *nvmlErrorString(int code) { (void)code; return "scripted error"; }

int nvmlSystemGetDriverVersion(char *version, unsigned size) { snprintf(version, size, "999.1"); return OK; }
int nvmlSystemGetCudaDriverVersion_v2(int *version) { *version = 12080; return OK; }

int nvmlDeviceGetCount_v2(unsigned *count) {
    double found = 0;
    int code = initialize();
    if (code) return code;
    code = number("gpus", &found);
    *count = code == OK ? (unsigned)found : 0;
    return OK;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **gpu) {
    *gpu = (void *)((long)index + 1);
    return refusal(*gpu, "handle");
}

static int text(const void *gpu, const char *what, char *value, unsigned size) {
    char key[128];
    int refused = refusal(gpu, what);
    if (refused) return refused;
    snprintf(key, sizeof key, "%ld.%s", (long)gpu - 1, what);
    if (!look_up(key, value, size)) snprintf(value, size, "%s-%ld", what, (long)gpu - 1);
    return OK;
}

int nvmlDeviceGetName(void *gpu, char *name, unsigned size) { return text(gpu, "name", name, size); }
int nvmlDeviceGetUUID(void *gpu, char *uuid, unsigned size) { return text(gpu, "uuid", uuid, size); }

int nvmlDeviceGetUtilizationRates(void *gpu, utilization *rates) {
    rates->memory = 0;
    return ask_unsigned(gpu, "utilization", &rates->gpu);
}

int nvmlDeviceGetTemperature(void *gpu, unsigned sensor, unsigned *celsius) {
    (void)sensor;
    return ask_unsigned(gpu, "temperature", celsius);
}

int nvmlDeviceGetPowerUsage(void *gpu, unsigned *milliwatts) { return ask_unsigned(gpu, "power", milliwatts); }
int nvmlDeviceGetEnforcedPowerLimit(void *gpu, unsigned *milliwatts) {
    return ask_unsigned(gpu, "power_limit", milliwatts);
}

int nvmlDeviceGetPowerManagementLimit(void *gpu, unsigned *milliwatts) {
    return ask_unsigned(gpu, "power_limit", milliwatts);
}

int nvmlDeviceGetPowerManagementLimitConstraints(void *gpu, unsigned *lowest, unsigned *highest) {
    int code = ask_unsigned(gpu, "lowest_power_limit", lowest);
    return code ? code : ask_unsigned(gpu, "highest_power_limit", highest);
}

/* What is set is appended to the file NVML_SCRIPT.set, one "GPU MILLIWATTS" a line. */
int nvmlDeviceSetPowerManagementLimit(void *gpu, unsigned milliwatts) {
    char path[512];
    const char *name = getenv("NVML_SCRIPT");
    int refused = refusal(gpu, "set_power_limit");
    if (refused) return refused;
    snprintf(path, sizeof path, "%s.set", name ? name : "/dev/null");
    FILE *set = fopen(path, "a");
    if (!set) return NO_PERMISSION;
    fprintf(set, "%ld %u\n", (long)gpu - 1, milliwatts);
    fclose(set);
    return OK;
}

int nvmlDeviceGetMemoryInfo(void *gpu, memory *info) {
    double total = 0, used = 0;
    int code = ask(gpu, "memory_total", &total);
    if (code == OK) code = ask(gpu, "memory_used", &used);
    info->total = (unsigned long long)total;
    info->used = (unsigned long long)used;
    info->free = info->total - info->used;
    return code;
}

int nvmlDeviceGetTotalEnergyConsumption(void *gpu, unsigned long long *millijoules) {
    double found = 0;
    int code = ask(gpu, "energy", &found);
    *millijoules = (unsigned long long)found;
    return code;
}

int nvmlDeviceGetFanSpeed(void *gpu, unsigned *percent) { return ask_unsigned(gpu, "fan", percent); }

/* The Kth program on a GPU: 1, and 0 after the last. */
static int program(const void *gpu, int k, process *found, unsigned *busy, char *kind) {
    char key[128], value[256];
    snprintf(key, sizeof key, "%ld.process.%d", (long)gpu - 1, k);
    if (!look_up(key, value, sizeof value)) return 0;
    memset(found, 0, sizeof *found);
    return sscanf(value, "%u,%llu,%u,%15s", &found->pid, &found->bytes, busy, kind) == 4;
}

static int programs(void *gpu, const char *wanted, unsigned *count, process *list) {
    process one;
    char kind[16];
    unsigned busy, room = *count;
    int code = refusal(gpu, "processes");
    if (code) return code;
    *count = 0;
    for (int k = 0; program(gpu, k, &one, &busy, kind); k++) {
        if (strcmp(kind, wanted)) continue;
        if (list && *count < room) list[*count] = one;
        ++*count;
    }
    return *count && (!list || *count > room) ? TOO_SMALL : OK;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void *gpu, unsigned *count, process *list) {
    return programs(gpu, "compute", count, list);
}

int nvmlDeviceGetGraphicsRunningProcesses_v3(void *gpu, unsigned *count, process *list) {
    return programs(gpu, "graphics", count, list);
}

int nvmlDeviceGetProcessUtilization(void *gpu, sample *samples, unsigned *count, unsigned long long since) {
    process one;
    char kind[16];
    unsigned busy, room = *count, k;
    int code = refusal(gpu, "process_utilization");
    if (code) return code;
    (void)since;
    for (k = 0; program(gpu, (int)k, &one, &busy, kind); k++) {
        if (samples && k < room) {
            memset(&samples[k], 0, sizeof *samples);
            samples[k].pid = one.pid;
            samples[k].sm = busy;
            samples[k].at = 1;
        }
    }
    *count = k;
    if (!k) return NOT_FOUND;
    return !samples || k > room ? TOO_SMALL : OK;
}
