/* The observation, the mask and the facts after a tick. */

static void see_station(const Line *line, int s, int t, float *out) {
    STATION(s);
    const int32_t *T = line->T;
    const int16_t *buffer = line->H + H_BUFFER;
    int in = T[s * T_STRIDE + T_IN1], to = T[s * T_STRIDE + T_OUT1], state = h[H_ORDER];
    for (int k = 0; k < CHANNELS; k++) {
        int q = T[T_QUANTITY + k];
        double value = (f[F_SEEN + k] - usual(line, s, q)) / SCALE[q], spread = sqrt(f[F_VARIANCE + k]) / SCALE[q];
        out[k] = (float)LIMITED(value, -50.0, 50.0);
        out[3 + k] = (float)(spread < 50 ? spread : 50.0);
        out[20 + k] = LIMITED(f[F_CLEAN + k], -50.0f, 50.0f);
    }
    out[6] = (float)(least(t - 1 - h[H_LAST], 64) / 16.0);
    out[7] = (float)((f[F_GAP] < 64 ? f[F_GAP] : 64.0) / 8.0);
    out[8] = f[F_SEEN + CHANNELS];
    out[9] = f[F_CYCLE] < 8 ? f[F_CYCLE] : 8;
    out[10] = (float)(least(h[H_DONE], 1000) / 100.0);
    out[11] = in == SOURCE ? 1 : (float)((double)buffer[in] / T[T_CAPACITY + in]);
    out[12] = to == SINK ? 0 : (float)((double)buffer[to] / T[T_CAPACITY + to]);
    out[13] = (float)((is_down(h, f, t) ? DOWN : h[H_STOPPED] ? MINOR_STOP : h[H_WORK]) / 4.0);
    out[14] = (float)(state / 4.0);
    out[15] = (float)((h[H_CLAIM] + 1) / 8.0);
    out[16] = state == NO_ORDER ? 0 : (float)(least(t - h[H_OPENED], 200) / 100.0);
    out[17] = (float)((h[H_TECH] + 1) / 6.0);
    out[18] = h[H_ALARM];
    out[19] = h[H_THROTTLED];
    out[23] = h[H_INSPECTED] < 0 ? 1 : (float)(least(t - h[H_INSPECTED], 100) / 100.0);
}

static int see_crew(const Line *line, int t, float *out) {
    const int16_t *H = line->H;
    int idle = 0;
    for (int k = 0; k < TECHNICIANS; k++, out += 4) {
        idle += H[H_TECH_STATE + k] == IDLE;
        out[0] = (float)(H[H_TECH_STATE + k] / 4.0);
        out[1] = (float)(H[H_TECH_AT + k] / 24.0);
        out[2] = (float)((H[H_TECH_TO + k] + 1) / 24.0);
        out[3] = (float)(least(H[H_TECH_TIMER + k], 50) / 50.0);
    }
    for (int p = 0; p < PARTS; p++, out += 3) {
        int wait = H[H_COMES + p] - t;
        out[0] = (float)(least(H[H_STOCK + p], 10) / 10.0);
        out[1] = (float)(least(H[H_COMING + p], 10) / 10.0);
        out[2] = (float)(LIMITED(wait, 0, 200) / 200.0);
    }
    return idle;
}

static void observe(const Line *line, float *out) {
    int t = line->I[I_TICK], stations = line->T[T_STATIONS], alarms = 0, orders = 0;
    for (int s = 0; s < stations; s++) {
        see_station(line, s, t, out + s * SEEN_STRIDE);
        alarms += line->H[s * H_STRIDE + H_ALARM];
        orders += line->H[s * H_STRIDE + H_ORDER] != NO_ORDER;
    }
    int idle = see_crew(line, t, out + SEEN_CREW);
    double whole = line->G[G_NOMINAL] * line->horizon, output = line->I[I_OUTPUT] / whole, scrap = line->I[I_SCRAP] / whole;
    out += SEEN_LINE;
    out[0] = (float)((double)t / line->horizon);
    out[1] = (float)(output < 4 ? output : 4.0);
    out[2] = (float)(scrap < 4 ? scrap : 4.0);
    out[3] = (float)(alarms / 24.0);
    out[4] = (float)(idle / 6.0);
    out[5] = (float)line->I[I_INVALID];
    out[6] = (float)(stations / 24.0);
    out[7] = (float)(orders / 24.0);
}

static void possible(const Line *line, uint8_t *mask) {
    const int16_t *H = line->H;
    int t = line->I[I_TICK], idle[TECHNICIANS], any = 0;
    for (int k = 0; k < TECHNICIANS; k++) any |= idle[k] = H[H_TECH_STATE + k] == IDLE;
    mask[0] = 1;
    for (int s = 0; s < line->T[T_STATIONS]; s++) {
        const int16_t *h = H + s * H_STRIDE;
        int open = h[H_ORDER] == OPEN, ready = open && H[H_STOCK + h[H_CLAIM]] > 0, free = h[H_THROTTLE_DUE] == -1;
        memset(mask + FIRST_INSPECT + s * CHANNELS, any, CHANNELS);
        memset(mask + FIRST_DIAGNOSE + s * CLAIMS, may_diagnose(h, t), CLAIMS);
        for (int k = 0; k < TECHNICIANS; k++) mask[FIRST_DISPATCH + k * STATIONS + s] = ready && idle[k];
        mask[FIRST_CLOSE + s] = open || h[H_ORDER] == DONE;
        mask[FIRST_THROTTLE + 2 * s] = free && h[H_THROTTLED] != 0;
        mask[FIRST_THROTTLE + 2 * s + 1] = free && h[H_THROTTLED] != 1;
    }
    for (int p = 0; p < PARTS; p++) memset(mask + FIRST_ORDER + 2 * p, H[H_COMES + p] == -1, 2);
}

static int phase_of(const Line *line) {
    static const int PHASES[] = {0, 2, 3, 4, 4};
    int furthest = 0;
    for (int s = 0; s < line->T[T_STATIONS]; s++) {
        const int16_t *h = line->H + s * H_STRIDE;
        int phase = h[H_ORDER] == NO_ORDER ? h[H_ALARM] : PHASES[h[H_ORDER]];
        if (phase > furthest) furthest = phase;
    }
    return furthest;
}

static void tell(const Line *line, const Tick *tick, int32_t *facts) {
    const int32_t *I = line->I;
    const int32_t told[FACTS] = {
        I[I_EPISODE], I[I_TICK], I[I_INVALID], phase_of(line), I[I_OUTPUT], I[I_SCRAP], I[I_FAULTS], I[I_FAULTS_DUE],
        I[I_CLOSED], I[I_CLOSED_DUE], I[I_WRONG], I[I_LATE], I[I_SUCCESS],
        tick->closed, tick->right, tick->identify, tick->assess, tick->dispatch, tick->execute,
    };
    memcpy(facts, told, sizeof told);
}
