/** For tests: what goes wrong in a round of the drill of hosts, drawn by a seed. The same seed draws the same. Pure. */
import { numbersOf } from '../../replication/testing/history.ts';

/** `crash`: kill -9. `restart`: an orderly stop. Both start again when they are over. */
const OF_A_HOST = [
  'crash',
  'restart',
  'stop-server',
  'stop-workers',
  'stop-all',
  'cut-registry',
  'silent-registry',
  'cut-store',
  'cut-hosts',
  'clock-ahead',
  'clock-behind',
] as const;
/** PostgreSQL is stopped, or crashes, and starts again. */
const OF_ALL = ['restart-registry', 'crash-registry'] as const;

export const FLEET_FAULTS = [...OF_A_HOST, ...OF_ALL] as const;
type FleetFaultKind = (typeof FLEET_FAULTS)[number];

export interface FleetFault {
  readonly kind: FleetFaultKind;
  /** Which host, from 0 on; of no meaning where all have it. */
  readonly host: number;
  /** Milliseconds from the beginning of the round, and for how long. */
  readonly afterMs: number;
  readonly forMs: number;
}

export interface FleetRound {
  readonly faults: readonly FleetFault[];
  readonly forMs: number;
}

/** Leases that a fault lasts: others have judged by then. */
const LASTS = 3;
/** Leases before the first fault begins. */
const CALM = 1;
/** Leases after the last one is over. */
const AFTER = 1;
/** Faults of a round. */
const BESIDE = 2;

/** Each kind once, in an order that `draw` says. */
function shuffled(draw: () => number): FleetFaultKind[] {
  const deck = [...FLEET_FAULTS];
  for (let at = deck.length - 1; at > 0; at -= 1) {
    const other = Math.floor(draw() * (at + 1));
    [deck[at], deck[other]] = [deck[other] as FleetFaultKind, deck[at] as FleetFaultKind];
  }
  return deck;
}

/**
 * The rounds of a seed, without end: two faults each, of two hosts, which lie over each other for a part of their time.
 * Every kind comes before one comes again. `hosts`: how many there are.
 */
export function* roundsOf(seed: number, { leaseMs, hosts }: { leaseMs: number; hosts: number }): Generator<FleetRound> {
  const draw = numbersOf(seed);
  for (let deck = shuffled(draw); ; ) {
    const faults: FleetFault[] = [];
    const first = Math.floor(draw() * hosts);
    for (let at = 0; at < BESIDE; at += 1) {
      if (deck.length === 0) deck = shuffled(draw);
      const kind = deck.pop() ?? FLEET_FAULTS[0];
      const host = (first + at * (1 + Math.floor(draw() * (hosts - 1)))) % hosts;
      const afterMs = Math.round((CALM + draw() * LASTS * at) * leaseMs);
      faults.push({ kind, host, afterMs, forMs: LASTS * leaseMs });
    }
    const end = Math.max(...faults.map(({ afterMs, forMs }) => afterMs + forMs));
    yield { faults, forMs: end + AFTER * leaseMs };
  }
}

/** One line for people. */
export function roundText({ faults }: FleetRound): string {
  const seconds = (ms: number) => (ms / 1000).toFixed(1);
  return faults
    .map(({ kind, host, afterMs, forMs }) => {
      const whose = OF_ALL.includes(kind as never) ? '' : ` of host ${host}`;
      return `${kind}${whose} from ${seconds(afterMs)} s for ${seconds(forMs)} s`;
    })
    .join(', ');
}
