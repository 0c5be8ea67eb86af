/* 1. Commands */

static inline int delay(const Line *line, int s) {
    int backlog = line->H[H_BACKLOG + s / STATIONS_A_SWITCH];
    return least(10, (backlog * TICK_MS / MESSAGES + line->I[s * I_STRIDE + I_RTO]) / TICK_MS);
}

static inline int may_diagnose(const int16_t *h, int t) {
    return h[H_ORDER] == OPEN || h[H_ORDER] == DONE ||
        (h[H_ORDER] == NO_ORDER && (h[H_ALARM] || (h[H_INSPECTED] >= 0 && t - h[H_INSPECTED] <= INSPECTED_FOR)));
}

static inline void quiet(int16_t *h) { h[H_ALARM] = h[H_EXCEED] = h[H_FLAT] = 0; }

static int inspect(Line *line, Tick *tick, int s, int channel) {
    int16_t *H = line->H;
    int nearest = -1, shortest = 0;
    for (int k = 0; k < TECHNICIANS; k++) {
        int travel = line->T[T_TRAVEL + H[H_TECH_AT + k] * STATIONS + s];
        if (H[H_TECH_STATE + k] == IDLE && (nearest < 0 || travel < shortest)) nearest = k, shortest = travel;
    }
    if (channel < 0 || channel >= CHANNELS || nearest < 0) return 0;
    H[H_TECH_STATE + nearest] = TO_INSPECT;
    H[H_TECH_TO + nearest] = s;
    H[H_TECH_TIMER + nearest] = shortest + 1 + delay(line, s);
    H[H_TECH_CHANNEL + nearest] = channel;
    tick->reward -= REWARD_INSPECT;
    return 1;
}

static int diagnose(Line *line, Tick *tick, int s, int claim, int t) {
    STATION(s);
    if (claim < 0 || claim >= CLAIMS || !may_diagnose(h, t)) return 0;
    h[H_FIXED] = 0;
    if (claim >= CLAIM_DISTURBANCE) {
        if (h[H_FAULT]) line->I[I_WRONG] += 1, tick->reward -= REWARD_FALSE;
        h[H_ORDER] = NO_ORDER;
        h[H_CLAIM] = -1;
        quiet(h);
        h[H_MUTED] = t + MUTE_TICKS;
        return 1;
    }
    if (h[H_ORDER] == NO_ORDER) h[H_OPENED] = t;
    h[H_ORDER] = OPEN;
    h[H_CLAIM] = claim;
    return 1;
}

static int order(Line *line, Tick *tick, int argument, int t) {
    int16_t *H = line->H;
    int part = argument / 2;
    if (argument < 0 || argument >= 2 * PARTS || H[H_COMES + part] != -1) return 0;
    H[H_COMING + part] = ORDER_SIZES[argument % 2];
    H[H_COMES + part] = t + line->T[T_LEAD + part];
    tick->reward -= REWARD_PART * H[H_COMING + part];
    return 1;
}

static int dispatch(Line *line, int s, int k, int t) {
    STATION(s);
    int16_t *H = line->H;
    if (k < 0 || k >= TECHNICIANS || h[H_ORDER] != OPEN) return 0;
    if (H[H_TECH_STATE + k] != IDLE || H[H_STOCK + h[H_CLAIM]] <= 0) return 0;
    H[H_STOCK + h[H_CLAIM]] -= 1;
    H[H_TECH_STATE + k] = TO_REPAIR;
    H[H_TECH_TO + k] = s;
    H[H_TECH_TIMER + k] = line->T[T_TRAVEL + H[H_TECH_AT + k] * STATIONS + s] + 1 + delay(line, s);
    h[H_ORDER] = TRAVEL;
    h[H_TECH] = k;
    h[H_SENT] = t;
    return 1;
}

static int close_order(Line *line, Tick *tick, int s, int argument, int t) {
    STATION(s);
    if (argument != 0 || (h[H_ORDER] != DONE && h[H_ORDER] != OPEN)) return 0;
    if (h[H_ORDER] == DONE) {
        int right = h[H_FIXED];
        if (right) {
            line->I[I_CLOSED] += 1;
            if (t - h[H_MENDED] > DEADLINE) line->I[I_LATE] += 1, tick->reward -= REWARD_LATE;
            else if (h[H_MENDED] < DUE_SHARE * line->horizon) line->I[I_CLOSED_DUE] += 1;
            h[H_MUTED] = t + MUTE_TICKS;
        } else {
            line->I[I_WRONG] += 1;
            tick->reward -= REWARD_FALSE;
        }
        tick->closed = s, tick->right = right, tick->identify = right ? h[H_OPENED] - h[H_MENDED] : 0;
        tick->assess = h[H_SENT] - h[H_OPENED], tick->dispatch = h[H_ARRIVED] - h[H_SENT], tick->execute = t - h[H_ARRIVED];
        h[H_FIXED] = 0;
        quiet(h);
    }
    h[H_ORDER] = NO_ORDER;
    h[H_CLAIM] = -1;
    return 1;
}

static int throttle(Line *line, int s, int argument, int t) {
    STATION(s);
    if (argument < 0 || argument > 1 || h[H_THROTTLE_DUE] != -1 || h[H_THROTTLED] == argument) return 0;
    h[H_THROTTLE_TO] = argument;
    h[H_THROTTLE_DUE] = t + delay(line, s);
    return 1;
}

static void command(Line *line, Tick *tick, const int32_t *c, int t) {
    int verb = c[0], s = c[1], argument = c[2], possible = verb == NOOP;
    if (verb == ORDER) possible = s == 0 && order(line, tick, argument, t);
    else if (s >= 0 && s < line->T[T_STATIONS]) {
        if (verb == INSPECT) possible = inspect(line, tick, s, argument);
        else if (verb == DIAGNOSE) possible = diagnose(line, tick, s, argument, t);
        else if (verb == DISPATCH) possible = dispatch(line, s, argument, t);
        else if (verb == CLOSE) possible = close_order(line, tick, s, argument, t);
        else if (verb == THROTTLE) possible = throttle(line, s, argument, t);
    }
    if (!possible) tick->invalid = 1, tick->reward -= REWARD_INVALID;
}
