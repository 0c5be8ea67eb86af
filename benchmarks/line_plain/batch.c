/* Many lines, one after the other: what linegym.batch.Batch does with the next-step autoreset, on one thread. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "plant.h"

#include "line.h"
#include "commands.h"
#include "tick.h"
#include "observation.h"

typedef struct {
    int32_t n, commands, horizon, unused;
    const int64_t *which;    /* row of T and G: rows of one template share its plant */
    const int32_t *T;        /* (templates, T_ROW) */
    const double *G, *V;     /* (templates, G_ROW), (n, V_ROW) */
    const uint64_t *uid, *seed;
    uint64_t *key;           /* of the episode under way */
    int16_t *H;
    int32_t *I;
    float *F, *observations; /* (n, SEEN_ROW) */
    double *rewards;
    uint8_t *over, *mask;    /* (n,), (n, ACTIONS) */
    int32_t *facts;          /* (n, FACTS) */
    const double *normal, *sine;
} Batch;

static Line line_of(const Batch *batch, int row) {
    Line line = {
        batch->T + batch->which[row] * T_ROW, batch->G + batch->which[row] * G_ROW, batch->V + (size_t)row * V_ROW,
        batch->normal, batch->sine, batch->key[row], batch->horizon,
        batch->H + (size_t)row * H_ROW, batch->I + (size_t)row * I_ROW, batch->F + (size_t)row * F_ROW,
    };
    return line;
}

static void tick_line(Line *line, Tick *tick, const int32_t *commands, int count) {
    int t = line->I[I_TICK];
    for (int c = 0; c < count; c++) command(line, tick, commands + 3 * c, t);
    line->I[I_INVALID] = tick->invalid;
    load(line, tick, t);
    switches(line, tick, t);
    for (int s = 0; s < line->T[T_STATIONS]; s++) station(line, tick, s, t);
    crew(line, tick, t);
    parts(line, t);
    settle(line, tick, t);
}

static void show(const Batch *batch, int row, const Line *line, const Tick *tick) {
    observe(line, batch->observations + (size_t)row * SEEN_ROW);
    if (batch->mask) possible(line, batch->mask + (size_t)row * ACTIONS);
    tell(line, tick, batch->facts + (size_t)row * FACTS);
    batch->rewards[row] = tick->reward;
    batch->over[row] = (uint8_t)line->I[I_OVER];
}

static void begin(Batch *batch, int row, int episode) {
    Tick tick = {.closed = -1};
    batch->key[row] = episode_key(batch->uid[row], batch->seed[row], (uint64_t)episode);
    Line line = line_of(batch, row);
    line.I[I_EPISODE] = episode;
    reset(&line);
    show(batch, row, &line, &tick);
}

void batch_reset(Batch *batch) {
    for (int row = 0; row < batch->n; row++) begin(batch, row, 0);
}

void batch_step(Batch *batch, const int32_t *commands) {
    for (int row = 0; row < batch->n; row++) {
        Line line = line_of(batch, row);
        Tick tick = {.closed = -1};
        if (line.I[I_OVER]) {
            begin(batch, row, line.I[I_EPISODE] + 1);
            continue;
        }
        tick_line(&line, &tick, commands + (size_t)row * batch->commands * 3, batch->commands);
        show(batch, row, &line, &tick);
    }
}

/* Read and write the bytes that a step touches, and nothing else: the bound that memory sets. */
uint64_t batch_touch(const Batch *batch) {
    uint64_t sum = 0;
    for (int row = 0; row < batch->n; row++) {
        Line line = line_of(batch, row);
        int stations = line.T[T_STATIONS];
        const int32_t *T = line.T;
        for (int j = 0; j < stations * T_STRIDE; j++) sum += T[j];
        for (int j = T_CAPACITY; j < T_TRAVEL; j++) sum += T[j];
        for (int j = T_LEAD; j < T_ROW; j++) sum += T[j];
        for (int j = 0; j < stations * G_STRIDE; j++) sum += line.G[j] > 0;
        for (int j = 0; j < V_ROW; j++) sum += batch->V[(size_t)row * V_ROW + j] > 0;
        for (int j = 0; j < stations * H_STRIDE; j++) line.H[j] ^= 1;
        for (int j = H_BUFFER; j < H_ROW; j++) line.H[j] ^= 1;
        for (int j = 0; j < stations * I_STRIDE; j++) line.I[j] ^= 1;
        for (int j = I_LINE; j < I_ROW; j++) line.I[j] ^= 1;
        for (int j = 0; j < stations * F_STRIDE; j++) line.F[j] = -line.F[j];
        for (int j = F_LINE; j < F_ROW; j++) line.F[j] = -line.F[j];
        memset(batch->observations + (size_t)row * SEEN_ROW, (int)sum, sizeof(float) * SEEN_ROW);
        if (batch->mask) memset(batch->mask + (size_t)row * ACTIONS, 0, ACTIONS);
        memset(batch->facts + (size_t)row * FACTS, 0, sizeof(int32_t) * FACTS);
        batch->rewards[row] = 0;
    }
    return sum;
}
