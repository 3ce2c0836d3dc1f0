/**
 * Where sandboxes are, by their rows and by the hosts that this one sees, and the refusals of what is elsewhere. Writes
 * nothing: that a sandbox cannot be reached is derived each time.
 */
import type { WinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import type { HostAsSeen } from '../registry/hosts.ts';
import type { InstanceRow } from '../registry/types.ts';
import { isWholeInStore, onAnotherHost } from '../sandboxes/engine.ts';
import type { HostWatch, SeenHost } from './host-watch.ts';
import { unreachable } from './unreachable.ts';
import type { OtherHost, SandboxPlace, SandboxPlaces, UnreachableSandbox } from './whereabouts.ts';

type Row = Pick<InstanceRow, 'id' | 'tenant' | 'state' | 'ownerHost' | 'stored' | 'vfsPath'>;

interface PlacesParts {
  self: { readonly name: string; readonly term: number };
  /** Null: nobody else uses the registry. */
  watch: Pick<HostWatch, 'get' | 'list' | 'lookForAll'> | null;
  row(id: InstanceId): Promise<Row | null>;
  /** Whether a process of this host has it open. */
  isAwakeHere(id: InstanceId): boolean;
}

export class KnownPlaces implements SandboxPlaces {
  readonly #parts: PlacesParts;

  constructor(parts: PlacesParts) {
    this.#parts = parts;
  }

  get self() {
    return this.#parts.self;
  }

  async whereIs(id: InstanceId): Promise<SandboxPlace> {
    const { watch, row, isAwakeHere } = this.#parts;
    if (watch === null || isAwakeHere(id)) return { here: true };
    const found = await row(id);
    if (found === null) return { here: true };
    const taker = found.ownerHost === null && found.state !== 'deleted' ? this.#takerOf(id) : null;
    if (taker !== null) return { here: false, tenant: found.tenant, ...taker };
    await this.meetOwner(found);
    return this.whereIsRow(found);
  }

  forNew(): OtherHost | null {
    return this.#takerOf('');
  }

  /** Who takes what is nobody's while this host is being emptied: the same one for the same sandbox. */
  #takerOf(id: string): OtherHost | null {
    const { self, watch } = this.#parts;
    if (watch?.get(self.name)?.isDraining !== true) return null;
    const takers = this.others().filter(({ host }) => watch.get(host)?.isDraining === false);
    const number = [...id].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 1_000_003, 0);
    return takers[number % takers.length] ?? null;
  }

  /** Looks for the host of a row that was read just now, where it has begun since the last look. Never rejects. */
  async meetOwner({ ownerHost }: Pick<Row, 'ownerHost'>): Promise<void> {
    const { self, watch } = this.#parts;
    if (ownerHost !== null && ownerHost !== self.name && watch?.get(ownerHost) === null) await watch.lookForAll();
  }

  /** The same of a row that was read just now, as its host was seen last. */
  whereIsRow(row: Row): SandboxPlace {
    const { self, watch } = this.#parts;
    const { ownerHost } = row;
    if (watch === null || ownerHost === null || ownerHost === self.name || row.state === 'deleted')
      return { here: true };
    const seen = watch.get(ownerHost);
    const other = seen === null ? null : reachable(seen);
    if (other !== null) return { here: false, tenant: row.tenant, ...other };
    // Whoever is asked frees it, and wakes it as it is there.
    if (seen !== null && isWholeInStore(row)) return { here: true };
    return { here: false, unreachable: unreachableOn(ownerHost, row, seen) };
  }

  host(name: string): OtherHost | null {
    const { self, watch } = this.#parts;
    const seen = name === self.name ? null : (watch?.get(name) ?? null);
    return seen === null ? null : reachable(seen);
  }

  others(): readonly OtherHost[] {
    const { self, watch } = this.#parts;
    const all = (watch?.list() ?? []).filter(({ name }) => name !== self.name);
    return all.flatMap((seen) => reachable(seen) ?? []);
  }
}

/** The host of a row as it was seen last, if it is another one and dead, or has handed its name back. */
export function fallenHost(
  watch: Pick<HostWatch, 'get'> | null,
  self: string,
  { ownerHost }: Pick<InstanceRow, 'ownerHost'>,
): HostAsSeen | null {
  const seen = ownerHost === null || ownerHost === self ? null : (watch?.get(ownerHost) ?? null);
  if (seen === null || seen.verdict === 'held') return null;
  const { name, token, renewals } = seen;
  return { name, token, renewals };
}

/** A host that a request may be sent to. */
function reachable({ name, url, term, publicKey, verdict }: SeenHost): OtherHost | null {
  return verdict === 'held' && url !== null && publicKey !== null ? { host: name, url, term, publicKey } : null;
}

function unreachableOn(host: string, { stored }: Row, seen: SeenHost | null): UnreachableSandbox {
  return {
    host,
    lastSeenMs: seen?.renewedMs ?? null,
    recoveryPointMs: stored === null ? null : stored.at * 1000,
  };
}

/** What is known of the sandbox of a row whose host does not answer; null: it is here, or its host lives. */
export function unreachableRow(places: Pick<KnownPlaces, 'whereIsRow'>, row: Row): UnreachableSandbox | null {
  const where = places.whereIsRow(row);
  return 'unreachable' in where ? where.unreachable : null;
}

/** The refusal of a sandbox that is another host's, from a row that was read just now. */
export async function refusedElsewhere(
  places: Pick<KnownPlaces, 'whereIsRow' | 'meetOwner'>,
  row: Row,
): Promise<WinterdockError> {
  await places.meetOwner(row);
  const away = unreachableRow(places, row);
  return away === null ? onAnotherHost(row) : unreachable(row.id, away);
}
