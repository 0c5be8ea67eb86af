/* 2. Load */

static void load(Line *line, Tick *tick, int t) {
    int16_t *H = line->H;
    float *F = line->F;
    const double *V = line->V;
    uint32_t w[4];
    word(line->key, LOAD, 0, t, w);
    double ar = AR_1 * F[F_AR1] + AR_2 * F[F_AR2] + V[V_AR] * z(line, w[0]);
    F[F_AR2] = F[F_AR1];
    F[F_AR1] = (float)ar;
    if (H[H_SPIKE] > 0) H[H_SPIKE] -= 1;
    else if (u(w[1]) < V[V_SPIKE_P]) {
        H[H_SPIKE] = SPIKE_SHORTEST + (w[2] >> 28);
        line->I[I_SPIKE_MASK] = w[3] & 0xFFFFFF;
    }
    double scan = 1 + ar + V[V_PERIODIC] * sine(line, (int64_t)t * PERIODIC_INCREMENT);
    F[F_SCAN] = (float)LIMITED(scan, SCAN_LOW, SCAN_HIGH);
    tick->scan = F[F_SCAN];
}

/* 3. Switches */

static void switches(Line *line, const Tick *tick, int t) {
    int16_t *bad = line->H + H_BAD, *backlog = line->H + H_BACKLOG;
    float *srtt = line->F + F_SRTT, *rttvar = line->F + F_RTTVAR;
    const double *V = line->V;
    uint32_t w[4];
    for (int k = 0; k < SWITCHES; k++) {
        word(line->key, SWITCH, k, t, w);
        double chance = u(w[1]);
        if (!bad[k]) bad[k] = chance < V[V_TO_BAD];
        else if (chance < V[V_TO_GOOD]) bad[k] = 0;
        int n = poisson(w[0], V[V_ARRIVALS], V[V_EXP_ARRIVALS], 32);
        if (tick->scan > 1) n += (int)(LOAD_MESSAGES * (tick->scan - 1));
        n += backlog[k] - MESSAGES;
        backlog[k] = LIMITED(n, 0, BACKLOG_LIMIT);
        if (bad[k]) continue;
        double sample = V[V_RTT] + backlog[k] * ((double)TICK_MS / MESSAGES), d = srtt[k] - sample;
        rttvar[k] = (float)(rttvar[k] + RTTVAR_GAIN * (fabs(d) - rttvar[k]));
        srtt[k] = (float)(srtt[k] + SRTT_GAIN * (sample - srtt[k]));
    }
}

/* 4. Each station, in order */

static inline int is_down(const int16_t *h, const float *f, int t) {
    return h[H_FAULT] == JAM || h[H_FAULT] == PLC_COMM || (h[H_FAULT] == OVERHEAT && f[F_TEMPERATURE] > HOT) ||
        h[H_ORDER] == REPAIR || h[H_TRIP] > TRIP_DOWN ||
        (h[H_ALARM] && h[H_ORDER] == NO_ORDER && t - h[H_ALARM_AT] > ALARM_STOPS);
}

static void finish(Line *line, Tick *tick, int s, int t, double luck) {
    STATION(s);
    const double *G = line->G;
    double cycle = f[F_CYCLE], q = G[G_SCRAP] + FAULT_SCRAP[h[H_FAULT]] * f[F_SEVERITY];
    h[H_WORK] = 2;
    f[F_CYCLE] = (float)(cycle + CYCLE_GAIN * ((t - h[H_LOADED]) * 1024.0 / line->T[s * T_STRIDE + T_CYCLE] - cycle));
    if (luck < q) tick->scrap += 1, h[H_WORK] = 0;
    else h[H_DEST] = line->T[s * T_STRIDE + T_OUT2] >= 0 && luck < q + G[G_SPLIT] ? 2 : 1;
}

static void process(Line *line, Tick *tick, int s, double scan, int t) {
    STATION(s);
    uint32_t w[4];
    double speed = (1 - FAULT_DERATE[h[H_FAULT]] * f[F_SEVERITY]) / (scan > 1 ? scan : 1.0);
    if (h[H_THROTTLED]) speed = speed * THROTTLED_SPEED;
    h[H_TIMER] -= (int)(1024 * speed);
    if (h[H_TIMER] > 0) return;
    word(line->key, FLOW, s, t, w);
    finish(line, tick, s, t, u(w[1]));
}

static void unload(Line *line, Tick *tick, int s) {
    STATION(s);
    const int32_t *T = line->T + s * T_STRIDE;
    int16_t *buffer = line->H + H_BUFFER;
    int b = h[H_DEST] == 2 ? T[T_OUT2] : T[T_OUT1];
    if (b == SINK || buffer[b] < line->T[T_CAPACITY + b]) buffer[b] += 1, h[H_DONE] += 1, h[H_WORK] = 0;
    else if (h[H_DEST] == 2 && line->T[T_REWORK]) tick->scrap += 1, h[H_WORK] = 0;
}

static void start(Line *line, int s, int t) {
    STATION(s);
    const int32_t *T = line->T + s * T_STRIDE;
    const double *G = line->G;
    int16_t *buffer = line->H + H_BUFFER;
    uint32_t w[4];
    if (buffer[T[T_IN1]] <= 0 || (T[T_IN2] >= 0 && buffer[T[T_IN2]] <= 0)) return;
    if (T[T_IN1] != SOURCE) buffer[T[T_IN1]] -= 1;
    if (T[T_IN2] > SOURCE) buffer[T[T_IN2]] -= 1;
    word(line->key, FLOW, s, t, w);
    h[H_WORK] = 1;
    h[H_TIMER] = (int)(T[T_CYCLE] * (1 + G[G_SPREAD] * (2 * u(w[0]) - 1)));
    h[H_LOADED] = t;
    if (u(w[2]) < G[G_MINOR]) h[H_STOPPED] = 1;
}

static void flow(Line *line, Tick *tick, int s, double scan, int t) {
    STATION(s);
    uint32_t w[4];
    if (h[H_STOPPED]) {
        word(line->key, FLOW, s, t, w);
        if (u(w[2]) < line->G[G_CLEAR]) h[H_STOPPED] = 0;
    } else if (h[H_WORK] == 1) process(line, tick, s, scan, t);
    if (h[H_STOPPED]) return;
    if (h[H_WORK] == 2) unload(line, tick, s);
    if (h[H_WORK] == 0) start(line, s, t);
}

static void wear(Line *line, int s, double effort, int t) {
    STATION(s);
    i[I_EXPOSURE] += EXPOSURE_REST + (int)(EXPOSURE_EFFORT * effort);
    if (h[H_FAULT] == NO_FAULT) {
        if (i[I_EXPOSURE] < i[I_ONSET]) return;
        h[H_FAULT] = h[H_NEXT];
        h[H_FAULT_AT] = t;
        f[F_SEVERITY] = (float)FAULT_ONSET[h[H_FAULT]];
        f[F_BIAS] = 0;
        line->I[I_FAULTS] += 1;
        if (t < DUE_SHARE * line->horizon) line->I[I_FAULTS_DUE] += 1;
        return;
    }
    double sev = f[F_SEVERITY], scale = SCALE[line->T[T_QUANTITY]];
    f[F_SEVERITY] = (float)(sev + SEVERITY_RATE * (1 - sev));
    if (h[H_FAULT] == SENSOR_DRIFT) {
        double bias = f[F_BIAS] + h[H_SIGN] * DRIFT_RATE * scale, limit = DRIFT_LIMIT * scale;
        f[F_BIAS] = (float)LIMITED(bias, -limit, limit);
    }
}

static inline void approach(float *x, int q, double target) { *x = (float)(*x + LAG[q] * (target - *x)); }

static void physics(Line *line, int s, int running, double effort, double scan) {
    STATION(s);
    int c = h[H_FAULT], q0 = line->T[T_QUANTITY];
    double sev = f[F_SEVERITY];
    approach(f + F_TEMPERATURE, TEMPERATURE,
             line->G[s * G_STRIDE + G_BASE] + HEAT * effort + FAULT_TEMPERATURE[c] * sev);
    approach(f + F_VIBRATION, VIBRATION,
             VIBRATION_IDLE + VIBRATION_EFFORT * effort + FAULT_VIBRATION[c] * sev * (0.25 + 0.75 * running));
    approach(f + F_CURRENT, CURRENT, CURRENT_IDLE + CURRENT_EFFORT * effort + FAULT_CURRENT[c] * sev);
    if (q0 == PRESSURE) approach(f + F_AUX, q0, PRESSURE_IDLE - PRESSURE_EFFORT * effort - FAULT_PRESSURE[c] * sev);
    if (q0 == SPEED) {
        double speed = 100.0 * running * (1 - FAULT_DERATE[c] * sev) / (scan > 1 ? scan : 1.0);
        approach(f + F_AUX, q0, h[H_THROTTLED] ? speed * THROTTLED_SPEED : speed);
    }
}

static void sense(Line *line, int s, double scan, int t) {
    STATION(s);
    const double *V = line->V;
    uint32_t w[4];
    word(line->key, SENSE, s, t, w);
    int64_t start = (int64_t)h[H_PHASE] * 256, phase = start + (int64_t)t * (SINE_INCREMENT + h[H_JITTER] * SINE_JITTER);
    double noise = V[V_NOISE] + V[V_RIPPLE] * fabs(scan - 1), luck = u(w[3]);
    if (h[H_HOLD] > 0) h[H_HOLD] -= 1;
    else if (luck >= 1 - V[V_HOLD_P]) h[H_HOLD] = HOLD_TICKS;
    for (int k = h[H_HOLD] > 0 || h[H_FAULT] == SENSOR_STUCK; k < CHANNELS; k++) {
        int q = line->T[T_QUANTITY + k];
        double x = f[q < 3 ? F_TEMPERATURE + q : F_AUX], gain = 1 + V[V_SINE] * sine(line, phase + k * CHANNEL_SHIFT);
        if (k == 0 && luck < V[V_IMPULSE_P])
            gain = V[V_SIGNED] != 0 && w[3] & 1 ? gain - V[V_IMPULSE] : gain + V[V_IMPULSE];
        double reading = x * gain + noise * (k ? SECONDARY_NOISE : line->G[G_NOISE]) * SCALE[q] * z(line, w[k]);
        int64_t slow = start + k * CHANNEL_SHIFT + (int64_t)t * WANDER_INCREMENT;
        reading = reading + V[V_WANDER] * SCALE[q] * sine(line, slow);
        f[F_HELD + k] = (float)(k ? reading : reading + f[F_BIAS]);
    }
}

static void send(Line *line, int s, double scan, int t) {
    STATION(s);
    const double *V = line->V;
    int k = s / STATIONS_A_SWITCH, rto = i[I_RTO];
    uint32_t w[4];
    if (h[H_FAULT] == PLC_COMM) {
        h[H_DUE + t % PACKETS] = -1;
        return;
    }
    word(line->key, LINK, s, t, w);
    if (u(w[0]) < (line->H[H_BAD + k] ? V[V_LOSS_BAD] : V[V_LOSS_GOOD])) {
        double first = line->F[F_SRTT + k] + 4.0 * line->F[F_RTTVAR + k];
        rto = rto > 0 ? least(2 * rto, RTO_CAP_MS) : (int)(first > RTO_FLOOR_MS ? first : RTO_FLOOR_MS);
    } else rto = 0;
    i[I_RTO] = rto;
    int wait = poisson(w[1], V[V_LATENCY], V[V_EXP_LATENCY], 12) * CYCLE_MS;
    int late = (wait + line->H[H_BACKLOG + k] * TICK_MS / MESSAGES + rto) / TICK_MS;
    h[H_DUE + t % PACKETS] = late < PACKETS ? t + late : -1;
    if (late >= PACKETS) return;
    float *packet = f + F_PACKET + t % PACKETS * (CHANNELS + 1);
    memcpy(packet, f + F_HELD, sizeof(float) * CHANNELS);
    packet[CHANNELS] = (float)scan;
}

static void take(Line *line, int s, int tt) {
    STATION(s);
    const float *packet = f + F_PACKET + tt % PACKETS * (CHANNELS + 1);
    int missed = least(tt - h[H_LAST] - 1, GAP_LIMIT), flat = packet[0] == f[F_SEEN], exceeds = 0;
    f[F_GAP] = (float)(GAP_DECAY * f[F_GAP] + missed);
    for (int k = 0; k < CHANNELS; k++) {
        int q = line->T[T_QUANTITY + k];
        double x = packet[k], d = x - f[F_MEAN + k];
        f[F_MEAN + k] = (float)(f[F_MEAN + k] + SMOOTHING * d);
        f[F_VARIANCE + k] = (float)((1 - SMOOTHING) * (f[F_VARIANCE + k] + SMOOTHING * d * d));
        f[F_SEEN + k] = packet[k];
        exceeds |= fabs((x - usual(line, s, q)) / SCALE[q]) > ALARM_LEVEL;
    }
    f[F_SEEN + CHANNELS] = packet[CHANNELS];
    h[H_FLAT] = flat ? least(h[H_FLAT] + 1, 1000) : 0;
    h[H_EXCEED] = exceeds ? least(h[H_EXCEED] + 1, 1000) : 0;
    h[H_LAST] = tt;
}

static void deliver(Line *line, int s, int t) {
    STATION(s);
    for (int tt = t; tt > t - PACKETS && tt > h[H_LAST] && tt >= 0; tt--) {
        int due = h[H_DUE + tt % PACKETS];
        if (due < 0 || due > t) continue;
        take(line, s, tt);
        return;
    }
}

static void alarm(Line *line, int s, int t) {
    STATION(s);
    if (h[H_ALARM] || h[H_ORDER] != NO_ORDER || t < h[H_MUTED]) return;
    if (h[H_EXCEED] >= ALARM_SAMPLES || h[H_FLAT] >= ALARM_FLAT || t - h[H_LAST] > ALARM_AGE || f[F_CYCLE] > ALARM_CYCLE ||
        h[H_STILL] >= ALARM_DOWN)
        h[H_ALARM] = 1, h[H_ALARM_AT] = t;
}

static void station(Line *line, Tick *tick, int s, int t) {
    STATION(s);
    double scan = tick->scan * line->G[s * G_STRIDE + G_PLC];
    if (line->H[H_SPIKE] > 0 && line->I[I_SPIKE_MASK] >> s & 1) scan = scan + line->V[V_SPIKE];
    scan = LIMITED(scan, SCAN_LOW, SCAN_HIGH);
    if (h[H_TRIP] > 0) h[H_TRIP] -= 1;
    else if (scan > TRIP_SCAN) h[H_TRIP] = TRIP_TICKS;
    if (h[H_THROTTLE_DUE] >= 0 && h[H_THROTTLE_DUE] <= t) h[H_THROTTLED] = h[H_THROTTLE_TO], h[H_THROTTLE_DUE] = -1;
    int down = is_down(h, f, t);
    if (!down) flow(line, tick, s, scan, t);
    int running = !down && !h[H_STOPPED] && h[H_WORK] == 1;
    h[H_STILL] = down ? least(h[H_STILL] + 1, 1000) : 0;
    double effort = running * scan;
    if (h[H_THROTTLED]) effort = effort * THROTTLED_SPEED;
    wear(line, s, effort, t);
    physics(line, s, running, effort, scan);
    sense(line, s, scan, t);
    send(line, s, scan, t);
    deliver(line, s, t);
    alarm(line, s, t);
}

/* 5. Crew */

static void repaired(Line *line, int s) {
    STATION(s);
    if (h[H_FAULT] == h[H_CLAIM] + 1) {
        h[H_MENDED] = h[H_FAULT_AT];
        h[H_FAULT] = NO_FAULT;
        f[F_SEVERITY] = f[F_BIAS] = 0;
        h[H_FIXED] = 1;
        f[F_CYCLE] = 1;
        h[H_RENEWALS] += 1;
        plan(line, s);
    }
    h[H_ORDER] = DONE;
    h[H_TECH] = -1;
}

static void inspected(Line *line, int s, int channel, int t) {
    STATION(s);
    int q = line->T[T_QUANTITY + channel];
    double x = f[q < 3 ? F_TEMPERATURE + q : F_AUX];
    f[F_CLEAN + channel] = (float)((x - usual(line, s, q)) / SCALE[q]);
    h[H_INSPECTED] = t;
}

static void arrives(Line *line, int k, int t) {
    int16_t *state = line->H + H_TECH_STATE + k, *timer = line->H + H_TECH_TIMER + k, *to = line->H + H_TECH_TO + k;
    STATION(*to);
    line->H[H_TECH_AT + k] = *to;
    if (*state == TO_REPAIR) {
        *state = REPAIRING;
        *timer = REPAIR_TICKS[h[H_CLAIM]] + SKILL_TICKS * (k % 3);
        h[H_ORDER] = REPAIR;
        h[H_ARRIVED] = t;
        return;
    }
    if (*state == TO_INSPECT) {
        *state = INSPECTING;
        *timer = INSPECTION_TICKS;
        return;
    }
    if (*state == REPAIRING) repaired(line, *to);
    else inspected(line, *to, line->H[H_TECH_CHANNEL + k], t);
    *state = IDLE;
    *to = -1;
}

static void crew(Line *line, Tick *tick, int t) {
    for (int k = 0; k < TECHNICIANS; k++) {
        int state = line->H[H_TECH_STATE + k];
        if (state == IDLE) continue;
        line->H[H_TECH_TIMER + k] -= 1;
        if (state == TO_REPAIR || state == TO_INSPECT) tick->reward -= REWARD_TRAVEL;
        if (line->H[H_TECH_TIMER + k] <= 0) arrives(line, k, t);
    }
}

/* 6. Parts, 7. Output and reward */

static void parts(Line *line, int t) {
    int16_t *stock = line->H + H_STOCK, *coming = line->H + H_COMING, *comes = line->H + H_COMES;
    for (int p = 0; p < PARTS; p++)
        if (comes[p] >= 0 && comes[p] <= t) stock[p] = least(stock[p] + coming[p], 100), coming[p] = 0, comes[p] = -1;
}

static void settle(Line *line, Tick *tick, int t) {
    int32_t *I = line->I;
    int out = line->H[H_BUFFER + SINK], faulty = 0;
    double whole = line->G[G_NOMINAL] * line->horizon;
    line->H[H_BUFFER + SINK] = 0;
    for (int s = 0; s < line->T[T_STATIONS]; s++) faulty += line->H[s * H_STRIDE + H_FAULT] != NO_FAULT;
    I[I_OUTPUT] += out;
    I[I_SCRAP] += tick->scrap;
    tick->reward = tick->reward + REWARD_OUTPUT * out / whole;
    tick->reward = tick->reward - REWARD_SCRAP * tick->scrap / whole;
    tick->reward = tick->reward - REWARD_FAULT * faulty;
    I[I_TICK] = t + 1;
    if (I[I_TICK] < line->horizon) return;
    I[I_OVER] = 1;
    I[I_SUCCESS] = I[I_CLOSED_DUE] == I[I_FAULTS_DUE] && I[I_OUTPUT] >= line->V[V_TARGET];
}
