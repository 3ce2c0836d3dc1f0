/** Counts requests by the minute and bytes by the day (UTC) of a sandbox or a tenant. Pure: time is an argument. */

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

export interface MeterLimits {
  requestsPerMinute: number;
  bytesPerDay: number;
}

export class Meter {
  /** What was sent today before this meter was made. */
  readonly #earlierBytes: number;
  readonly #madeOn: number;
  #minute = -1;
  #requests = 0;
  #day = -1;
  #bytes = 0;
  /** The minute whose first refusal was told. */
  #told = -1;

  constructor(nowMs: number, earlierBytes: number) {
    this.#madeOn = Math.floor(nowMs / DAY_MS);
    this.#earlierBytes = earlierBytes;
  }

  /** Why one more request may not go out, as a sentence; null when it may. Counts nothing. */
  refusal(nowMs: number, limits: MeterLimits, of: string): string | null {
    this.#turn(nowMs);
    const { requestsPerMinute } = limits;
    if (this.#requests >= requestsPerMinute) {
      const seconds = Math.ceil((MINUTE_MS - (nowMs % MINUTE_MS)) / 1000);
      return `the ${requestsPerMinute} requests a minute of ${of} are used up, for ${seconds} s more`;
    }
    return this.bytesRefusal(nowMs, limits, of);
  }

  /** The same of its bytes alone: for a request that is counted already and has waited. */
  bytesRefusal(nowMs: number, { bytesPerDay }: MeterLimits, of: string): string | null {
    this.#turn(nowMs);
    return this.#bytes >= bytesPerDay
      ? `the ${bytesPerDay} bytes a day of ${of} are used up, until midnight UTC`
      : null;
  }

  addRequest(nowMs: number): void {
    this.#turn(nowMs);
    this.#requests += 1;
  }

  addBytes(nowMs: number, bytes: number): void {
    this.#turn(nowMs);
    this.#bytes += bytes;
  }

  /** Whether this refusal is the first of its minute. */
  isFirstRefusal(nowMs: number): boolean {
    const minute = Math.floor(nowMs / MINUTE_MS);
    const isFirst = this.#told !== minute;
    this.#told = minute;
    return isFirst;
  }

  #turn(nowMs: number): void {
    const [minute, day] = [Math.floor(nowMs / MINUTE_MS), Math.floor(nowMs / DAY_MS)];
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#requests = 0;
    }
    if (day !== this.#day) {
      this.#day = day;
      this.#bytes = day === this.#madeOn ? this.#earlierBytes : 0;
    }
  }
}
