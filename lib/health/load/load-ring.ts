/**
 * The samples of an hour of one sandbox, tenant or server, in less than 4 kB. A number has 11 bits and an exponent:
 * below 2048 it is exact, above it is right to a twentieth of a percent. Knows nothing of time: samples have numbers.
 */

/** Samples kept: an hour of one each ten seconds. */
export const SAMPLES = 360;
/** Disk is known once in so many samples. */
export const SAMPLES_A_DISK = 6;
/** What a ring takes, in bytes. */
export const RING_BYTES = 3840;

/** What was taken since the sample before; of memory the most. */
export interface LoadSample {
  cpuMs: number;
  memoryBytes: number;
  calls: number;
  bytesIn: number;
  bytesOut: number;
}

const FIELDS = ['cpuMs', 'memoryBytes', 'calls', 'bytesIn', 'bytesOut'] as const satisfies (keyof LoadSample)[];
const DIGITS = 2048;
/** In a first field: there is no sample. No number is written so: its exponent would be the 32nd. */
const NONE = 0xffff;
const MOST_EXPONENT = 30;

function packed(value: number): number {
  if (!(value > 0)) return 0;
  let digits = Math.round(value);
  let exponent = 0;
  while (digits >= DIGITS && exponent < MOST_EXPONENT) {
    digits = Math.round(digits / 2);
    exponent += 1;
  }
  return exponent * DIGITS + Math.min(digits, DIGITS - 1);
}

function unpacked(code: number): number {
  return (code % DIGITS) * 2 ** Math.floor(code / DIGITS);
}

export class LoadRing {
  readonly #values: Uint16Array;
  readonly #disk: Float32Array;
  /** The number of the last sample; before it there are `SAMPLES - 1` places, some of them empty. */
  last = -1;

  constructor() {
    const bytes = new ArrayBuffer(RING_BYTES);
    const values = SAMPLES * FIELDS.length;
    this.#values = new Uint16Array(bytes, 0, values).fill(NONE);
    this.#disk = new Float32Array(bytes, values * Uint16Array.BYTES_PER_ELEMENT).fill(Number.NaN);
  }

  /** Writes the sample of a number, which is greater than the last one's. */
  write(number: number, sample: LoadSample): void {
    const skipped = Math.min(SAMPLES, this.last < 0 ? 0 : number - this.last - 1);
    for (let empty = number - skipped; empty < number; empty += 1) {
      this.#values[(empty % SAMPLES) * FIELDS.length] = NONE;
      if (empty % SAMPLES_A_DISK === 0) this.#disk[diskPlace(empty)] = Number.NaN;
    }
    if (number % SAMPLES_A_DISK === 0) this.#disk[diskPlace(number)] = Number.NaN;
    const place = (number % SAMPLES) * FIELDS.length;
    for (const [at, field] of FIELDS.entries()) this.#values[place + at] = packed(sample[field]);
    this.last = number;
  }

  /** Notes the bytes of its file, as of the last sample. */
  writeDisk(bytes: number): void {
    this.#disk[diskPlace(this.last)] = bytes;
  }

  /** The sample of a number; null when there is none, or none any more. */
  read(number: number): (LoadSample & { diskBytes: number | null }) | null {
    if (number > this.last || number <= this.last - SAMPLES || number < 0) return null;
    const place = (number % SAMPLES) * FIELDS.length;
    const [cpu = NONE, memory = 0, calls = 0, bytesIn = 0, bytesOut = 0] = this.#values.subarray(place, place + 5);
    if (cpu === NONE) return null;
    const disk = this.#disk[diskPlace(number)] ?? Number.NaN;
    return {
      cpuMs: unpacked(cpu),
      memoryBytes: unpacked(memory),
      calls: unpacked(calls),
      bytesIn: unpacked(bytesIn),
      bytesOut: unpacked(bytesOut),
      diskBytes: Number.isNaN(disk) ? null : disk,
    };
  }
}

function diskPlace(number: number): number {
  return Math.floor(number / SAMPLES_A_DISK) % (SAMPLES / SAMPLES_A_DISK);
}
