/* The plant of docs/reference/plant.md in plain C, to see what a C compiler makes of it: numbers and start of an episode.
 *
 * line_plain.py writes plant.h from linegym/plant.py and linegym/layout.py: every constant and every index comes from
 * there. The arrays are the kernel's, the headings the specification's.
 */

typedef struct {
    const int32_t *T;
    const double *G, *V, *normal, *sine;
    uint64_t key;
    int horizon;
    int16_t *H;
    int32_t *I;
    float *F;
} Line;

typedef struct {
    double reward, scan;
    int invalid, scrap, closed, right, identify, assess, dispatch, execute;
} Tick;

#define STATION(s) \
    int16_t *h = line->H + (s) * H_STRIDE; int32_t *i = line->I + (s) * I_STRIDE; float *f = line->F + (s) * F_STRIDE; \
    (void)h; (void)i; (void)f
#define LIMITED(x, low, high) ((x) < (low) ? (low) : (x) > (high) ? (high) : (x))

static inline int least(int a, int b) { return a < b ? a : b; }

/* Numbers */

static inline uint64_t mix(uint64_t z) {
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

uint64_t episode_key(uint64_t uid, uint64_t seed, uint64_t episode) {
    const uint64_t g = 0x9E3779B97F4A7C15u;
    return mix(mix(mix(uid + g) ^ (seed + g)) ^ (episode + g));
}

static inline void word(uint64_t key, uint32_t stream, uint32_t index, uint32_t tick, uint32_t w[4]) {
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32), x0 = tick, x1 = stream << 16 | index, x2 = 0, x3 = 0;
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * x0, p1 = (uint64_t)0xCD9E8D57u * x2;
        x0 = (uint32_t)(p1 >> 32) ^ x1 ^ k0;
        x1 = (uint32_t)p1;
        x2 = (uint32_t)(p0 >> 32) ^ x3 ^ k1;
        x3 = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    w[0] = x0, w[1] = x1, w[2] = x2, w[3] = x3;
}

static inline double u(uint32_t w) { return w * 0x1p-32; }

static inline double sine(const Line *line, int64_t phase) { return line->sine[phase % SINE_TURN >> 8]; }

static inline double z(const Line *line, uint32_t w) {
    /* No branch on the sign: it would be guessed wrong half of the time. */
    uint32_t positive = w >> 31, h = w ^ -positive;
    const double *entry;
    double part;
    if (__builtin_expect(h >= 1u << 26, 1)) entry = line->normal + (h >> 22), part = (h & 0x3FFFFF) * 0x1p-22;
    else if (h >= 1u << 20) entry = line->normal + 513 + (h >> 18), part = (h & 0x3FFFF) * 0x1p-18;
    else if (h >= 1u << 14) entry = line->normal + 770 + (h >> 12), part = (h & 0xFFF) * 0x1p-12;
    else entry = line->normal + 1027 + (h >> 6), part = (h & 0x3F) * 0x1p-6;
    return copysign(entry[0] + part * (entry[1] - entry[0]), positive - 0.5);
}

static inline int poisson(uint32_t w, double mean, double p, int most) {
    double c = p;
    int n = 0;
    while (u(w) > c && n < most) {
        n += 1;
        p = p * mean / n;
        c = c + p;
    }
    return n;
}

/* State at the start of an episode */

static inline double usual(const Line *line, int s, int q) {
    return q == TEMPERATURE ? NOMINAL[q] + line->G[s * G_STRIDE + G_BASE] : NOMINAL[q];
}

static void plan(Line *line, int s) {
    STATION(s);
    uint32_t w[4], first[4];
    const double *G = line->G;
    int renewal = h[H_RENEWALS], planned = -1;
    word(line->key, FAULT, s, renewal, w);
    word(line->key, PLAN, 0, 0, first);
    int certain = renewal == 0 && s == (int)((uint64_t)first[0] * line->T[T_STATIONS] >> 32);
    if (certain || u(w[0]) < G[G_FAULT]) {
        double span = (certain ? CERTAIN_SHARE : PLANNED_SHARE) * line->horizon - FIRST_ONSET;
        planned = FIRST_ONSET + (int)(u(w[1]) * (span > 0 ? span : 0.0));
    }
    int class = 1 + ((w[2] & 0xFFFF) * 8 >> 16);
    if (certain || u(w[2]) < DOMINANT || !(line->T[T_ALLOWED] >> class & 1)) class = line->T[T_DOMINANT];
    h[H_SIGN] = w[3] & 1 ? 1 : -1;
    h[H_NEXT] = class;
    i[I_ONSET] = planned < 0 || G[G_FAULT] < 0 ? NEVER : i[I_EXPOSURE] + EXPOSURE_TICK * planned;
}

static void fresh_station(Line *line, int s) {
    STATION(s);
    uint32_t w[4];
    h[H_DEST] = h[H_SIGN] = 1;
    h[H_CLAIM] = h[H_TECH] = h[H_LAST] = h[H_THROTTLE_DUE] = h[H_INSPECTED] = -1;
    for (int slot = 0; slot < PACKETS; slot++) h[H_DUE + slot] = -1;
    f[F_TEMPERATURE] = (float)line->G[s * G_STRIDE + G_BASE];
    f[F_VIBRATION] = (float)VIBRATION_IDLE;
    f[F_CURRENT] = (float)CURRENT_IDLE;
    f[F_AUX] = line->T[T_QUANTITY] == PRESSURE ? (float)PRESSURE_IDLE : 0;
    f[F_CYCLE] = f[F_SEEN + CHANNELS] = 1;
    for (int k = 0; k < CHANNELS; k++)
        f[F_HELD + k] = f[F_SEEN + k] = f[F_MEAN + k] = (float)usual(line, s, line->T[T_QUANTITY + k]);
    if (line->V[V_SIGNED] != 0) {
        word(line->key, PHASE, s, 0, w);
        h[H_PHASE] = (uint64_t)w[0] * SINE_ENTRIES >> 32;
        h[H_JITTER] = (int)((uint64_t)w[1] * 129 >> 32) - 64;
    }
    plan(line, s);
}

static void reset(Line *line) {
    int16_t *H = line->H;
    int stations = line->T[T_STATIONS], episode = line->I[I_EPISODE];
    memset(H, 0, sizeof(int16_t) * H_ROW);
    memset(line->I, 0, sizeof(int32_t) * I_ROW);
    memset(line->F, 0, sizeof(float) * F_ROW);
    line->I[I_EPISODE] = episode;
    for (int s = 0; s < stations; s++) fresh_station(line, s);
    H[H_BUFFER + SOURCE] = 1;
    for (int k = 0; k < TECHNICIANS; k++) H[H_TECH_AT + k] = k * stations / TECHNICIANS, H[H_TECH_TO + k] = -1;
    for (int p = 0; p < PARTS; p++) H[H_STOCK + p] = line->T[T_STOCK + p], H[H_COMES + p] = -1;
    line->F[F_SCAN] = 1;
    for (int w = 0; w < SWITCHES; w++)
        line->F[F_SRTT + w] = (float)line->V[V_RTT], line->F[F_RTTVAR + w] = (float)(line->V[V_RTT] * 0.5);
}
