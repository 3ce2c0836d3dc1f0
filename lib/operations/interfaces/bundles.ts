/** The operations about bundles: what leaves, what comes in, what is known of both. */
import type { Caller } from '../../auth/caller.ts';
import type {
  ImportQuery,
  Inspection,
  InstanceSharesQuery,
  Share,
  SharesQuery,
  ShipInput,
} from '../../contract/schema/bundles.ts';
import type { Instance } from '../../contract/schema.ts';
import type { Outgoing, Upload } from '../../operations/streams.ts';

export interface BundlesOperations {
  /** A signed bundle of a sandbox, kept as a share before its first byte goes. Wakes nothing. */
  ship(
    caller: Caller,
    id: string,
    input: ShipInput,
    signal?: AbortSignal,
  ): Promise<{ share: Share; outgoing: Outgoing }>;
  /** Newest first. */
  shares(caller: Caller, query: SharesQuery): Promise<{ items: Share[]; next: string | null }>;
  instanceShares(
    caller: Caller,
    id: string,
    query: InstanceSharesQuery,
  ): Promise<{ items: Share[]; next: string | null }>;
  /** What a file is that someone has. Nothing of it is kept. */
  inspectBundle(caller: Caller, upload: Upload, signal?: AbortSignal): Promise<Inspection>;
  /** A new sandbox of a bundle or a bare VFS file. */
  importBundle(caller: Caller, query: ImportQuery, upload: Upload, signal?: AbortSignal): Promise<Instance>;
  /** The workspace as a tar.gz. */
  checkout(caller: Caller, id: string, signal?: AbortSignal): Promise<Outgoing>;
}
