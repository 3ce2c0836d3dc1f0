/** The operations about damaged files: the file as it lies. */
import type { Caller } from '../../auth/caller.ts';
import type { RawQuery, RestoreInstanceInput, SalvageInput } from '../../contract/schema/repairs.ts';
import type { Instance, SalvageAnswer } from '../../contract/schema.ts';
import type { Outgoing } from '../../operations/streams.ts';

/** What is known of raw bytes before the first of them goes. */
interface RawFacts {
  name: string;
  bytes: number;
  sha256: string;
  logBytes: number;
}

export interface RepairsOperations {
  /** The file of a sandbox that is not awake, or the log beside it, byte for byte. Wakes and opens nothing. */
  raw(
    caller: Caller,
    id: string,
    query: RawQuery,
    signal?: AbortSignal,
  ): Promise<{ facts: RawFacts; outgoing: Outgoing }>;
  /** A new sandbox of what is readable of its file, and what is not. Its file is left as it is. */
  salvage(caller: Caller, id: string, input: SalvageInput, signal?: AbortSignal): Promise<SalvageAnswer>;
  /** Puts a snapshot in the place of its file; what was there is kept aside. It keeps its state and loses its fault. */
  restoreInstance(caller: Caller, id: string, input: RestoreInstanceInput): Promise<Instance>;
}
