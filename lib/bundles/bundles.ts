/**
 * Ships, checkouts, inspections and imports of bundles. Owns the order of their steps: a ship copies, inspects, signs,
 * records the share and sends; an import unpacks, verifies and creates the sandbox. Bytes pass through files and bundle
 * processes, never through the server's memory.
 */

import { createReadStream } from 'node:fs';
import { dirname, join } from 'node:path';
import { finished, Readable } from 'node:stream';
import { type Clock, epochSeconds } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { isWinterdockError, publicMessage } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import type { Logger } from '../base/log.ts';
import type { Signer } from '../base/signing.ts';
import { variableNameProblem } from '../base/variable-names.ts';
import { carriedNames, effectiveVariables } from '../registry/environments.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import type { ShareRow } from '../registry/shares.ts';
import type { InstanceRow, LedgerEntry } from '../registry/types.ts';
import type { AuditContext, Sandboxes } from '../sandboxes/sandboxes.ts';
import { moveFile } from '../storage/files.ts';
import type { VfsCopy } from '../vfs/types.ts';
import { DEFAULT_POLICY } from '../workers/protocol/policies.ts';
import { packBundle, ZIP } from './bundle-packer.ts';
import type { CarriedWorkbooks } from './carried-workbooks.ts';
import { copyAsOf } from './copy-as-of.ts';
import { createFromFile } from './create-from-file.ts';
import { DISK, type Manifest, PAGE, SOURCE, shippedVolumes } from './manifest.ts';
import type { LeftOutSummary, UnpackResult } from './messages.ts';
import { requireSelfContained, selfContainedPage } from './self-contained.ts';
import type { OutgoingStream, Transfers } from './transfers.ts';
import { type BundleVerification, importRefusal, matchShare, type ShareMatch, verifyBundle } from './verification.ts';

/** Names of variables that a line of the ledger tells. */
const SHOWN_NAMES = 10;
/** What a download reads at a time: each read crosses the server's thread. */
const SENT_BYTES = 1024 * 1024;

export interface BundlesOptions {
  config: Config;
  clock: Clock;
  log: Logger;
  registry: Registry;
  sandboxes: Pick<Sandboxes, 'copyOut' | 'fileMade' | 'past'>;
  signer: Signer;
  transfers: Transfers;
  workbooks: CarriedWorkbooks;
}

/** Saves an upload to a new file. */
export type SaveUpload = (path: string) => Promise<number>;

export interface BundleInspection extends BundleVerification {
  manifest: Manifest | null;
  share: ShareMatch | null;
}

export interface ImportInput {
  id: InstanceId;
  tenant: string;
  name: string | null;
  /** Only what is signed is taken; default: as the server has it. */
  requireSigned?: boolean;
}

/** A checkout, and what is not in it. */
export interface Checkout {
  outgoing: OutgoingStream;
  leftOut: LeftOutSummary;
}

export class Bundles {
  readonly #options: BundlesOptions;
  readonly #transfers: Transfers;

  constructor(options: BundlesOptions) {
    this.#options = options;
    this.#transfers = options.transfers;
  }

  /**
   * Makes a signed bundle of a sandbox in any state, waking nothing. Records it as a share before its first byte is
   * sent. `atMs`: of its newest moment up to then (epoch milliseconds), which may be gone: `moment_gone`. Throws
   * `not_found`, `gone`, `corrupt`, `missing_file`, `conflict` for a `:memory:` sandbox, `rate_limited`.
   */
  ship(
    row: InstanceRow,
    { includePrivate, format, atMs = null }: { includePrivate: boolean; format: 'zip' | 'html'; atMs?: number | null },
    audit: AuditContext,
    signal?: AbortSignal,
  ): Promise<{ share: ShareRow; outgoing: OutgoingStream }> {
    return this.#transfers
      .outbound(audit.actor, async (folder) => {
        const { signer, clock, config, sandboxes } = this.#options;
        const share = await this.#recordingFailure(row, audit, 'bundle.failed', () =>
          this.#transfers.withProcess(folder, signal, async (startProcess) => {
            const volumes = shippedVolumes(includePrivate);
            const starting = startProcess();
            // Its failure is thrown below: the copy must have ended before the folder is removed.
            starting.catch(() => undefined);
            const copying = { volumes, durable: false };
            const { sha256, bytes, momentMs } = await copyAsOf(sandboxes, row.id, join(folder, DISK), copying, atMs);
            const { actor, requestId } = audit;
            const workbook = await this.#options.workbooks.carried(row);
            const env = carriedNames(await this.#options.registry.environments.of(row.id));
            const disk = { sha256, bytes };
            const source = { row, includePrivate, folder, disk, env, workbook, momentMs, actor, requestId };
            return packBundle({ signer, clock, maxFileBytes: config.maxFileBytes }, await starting, source);
          }),
        );
        if (format === 'html') requireSelfContained(share.bytes);
        await this.#options.registry.shares.add(share, this.#shipEntries(row, share, audit));
        if (format === 'html') {
          const page = { path: join(folder, PAGE), bytes: share.members[PAGE]?.bytes ?? 0 };
          const zip = { path: join(folder, ZIP), bytes: share.bytes, fileName: `${row.id}.wbundle.zip` };
          return {
            result: share,
            stream: Readable.from(selfContainedPage(page, zip), { objectMode: false }),
            bytes: null,
          };
        }
        return {
          result: share,
          stream: createReadStream(join(folder, ZIP), { highWaterMark: SENT_BYTES }),
          bytes: share.bytes,
        };
      })
      .then(({ result, outgoing }) => ({ share: result, outgoing }));
  }

  /**
   * The workspace of a sandbox as a tar.gz, waking nothing. `plain`: without the generated files. Throws as `ship`
   * does, before the first byte.
   */
  checkout(
    row: InstanceRow,
    audit: AuditContext,
    signal?: AbortSignal,
    { plain = false }: { plain?: boolean } = {},
  ): Promise<Checkout> {
    return this.#transfers
      .outbound(audit.actor, async (folder) => {
        const disk = join(folder, DISK);
        const { output: stream, leftOut } = await this.#recordingFailure(row, audit, 'checkout.failed', async () => {
          await this.#transfers.withSlot(() =>
            this.#options.sandboxes.copyOut(row.id, disk, { volumes: shippedVolumes(false), durable: false }),
          );
          const process = await this.#transfers.startProcess(folder, signal);
          try {
            const begun = await process.stream({
              kind: 'checkout',
              disk,
              maxFileBytes: this.#options.config.maxFileBytes,
              plain,
            });
            await this.#options.registry.ledger.append([
              this.#entry(row, audit, 'checkout.sent', withoutWhat(begun.leftOut)),
            ]);
            finished(begun.output, () => void process.end());
            return begun;
          } catch (error) {
            await process.end();
            throw error;
          }
        });
        return { result: leftOut, stream, bytes: null };
      })
      .then(({ result, outgoing }) => ({ outgoing, leftOut: result }));
  }

  /** Inspects a file: its kind, its signer, its faults, and the matching share of `tenants` (null: of all). */
  inspect(
    save: SaveUpload,
    { actor, tenants }: { actor: string; tenants: readonly string[] | null },
    signal?: AbortSignal,
  ): Promise<BundleInspection> {
    return this.#unpackUpload(actor, save, signal, async (unpacked) => {
      const traits = {
        sha256: unpacked.whole.sha256,
        id: unpacked.manifest?.id ?? null,
        diskSha256: unpacked.kind === 'vfs' ? unpacked.whole.sha256 : (unpacked.members[DISK]?.sha256 ?? null),
      };
      const found = await this.#options.registry.shares.find(traits, tenants === null ? {} : { tenants });
      const share = unpacked.kind === 'unknown' ? null : matchShare(unpacked, found);
      return { ...(await this.#verify(unpacked)), manifest: unpacked.manifest, share };
    });
  }

  /**
   * Verifies a bundle or a bare VFS file and writes its contents to a new VFS file at `target`. Throws `validation` or
   * `too_large` with all faults. `env`: names of variables that it wants; `origin`: what it was, and who signed it.
   */
  importFile(save: SaveUpload, target: string, actor: string): Promise<VfsCopy & { env: string[]; origin: string }> {
    return this.#unpackUpload(actor, save, undefined, async (unpacked, rebuilt) => {
      const verification = await this.#verify(unpacked);
      const copied = accepted(unpacked, verification);
      await (await moveFile(rebuilt, target, dirname(target))).makeDurable();
      return { ...copied, env: wantedNames(unpacked), origin: originOf(unpacked, verification) };
    });
  }

  /**
   * Makes a new sandbox from a bundle or a bare VFS file. Throws `validation` or `too_large` with all faults, and
   * `conflict`.
   */
  import(
    save: SaveUpload,
    input: ImportInput,
    audit: AuditContext,
    signal?: AbortSignal,
  ): Promise<{ made: InstanceRow; verification: BundleVerification }> {
    const row = { id: input.id, tenant: input.tenant };
    return this.#unpackUpload(audit.actor, save, signal, async (unpacked, target) => {
      const verification = await this.#verify(unpacked, input.requireSigned);
      const { sha256 } = await this.#recordingFailure(
        { id: null, tenant: input.tenant },
        audit,
        'import.refused',
        async () => accepted(unpacked, verification),
      );
      const parent = await this.#parentOf(unpacked, input.tenant);
      const wanted = wantedNames(unpacked);
      const docking = await this.#options.workbooks.dock(
        input.tenant,
        unpacked.manifest,
        sourceIn(unpacked, target),
        audit,
      );
      const created = createFromFile(
        { ...this.#options, dataFolder: this.#options.config.dataFolder },
        target,
        sha256,
        {
          ...row,
          name: input.name,
          ephemeral: false,
          policy: DEFAULT_POLICY,
          keepHot: false,
          hotToWarmSeconds: null,
          idleToSuspendSeconds: null,
          idleToFreezeSeconds: null,
          labels: {},
          workbook: docking.workbook,
          workbookVersion: docking.workbookVersion,
          lineageBlueprint: null,
          lineageSnapshot: null,
          lineageParent: parent,
        },
        ledgerEntry(this.#options, row, audit, 'instance.imported', {
          to: 'created',
          reason: `${originOf(unpacked, verification)}${docking.says}${await this.#missing(input.tenant, wanted)}`,
        }),
      );
      const made = await created.catch(async (error: unknown) => {
        await this.#options.workbooks.takeBack(input.tenant, docking, audit);
        throw error;
      });
      await this.#want(made, wanted, audit.actor);
      return { made, verification };
    });
  }

  /**
   * Verifies what was unpacked. Whether it is a share of this server that lost its signature is asked of all tenants'
   * shares, by the id in its manifest alone: who has the bundle has that already.
   */
  async #verify(unpacked: UnpackResult, requireSigned = false): Promise<BundleVerification> {
    const { registry, signer, config } = this.#options;
    const { manifest, whole } = unpacked;
    const found =
      manifest === null
        ? null
        : await registry.shares.find({ sha256: whole.sha256, id: manifest.id, diskSha256: null }, {});
    return verifyBundle(unpacked, {
      own: signer.trusted,
      shipped: found,
      mustBeSigned: requireSigned || config.requireSigned,
    });
  }

  /** The ledger lines of a share. Private volumes in it have a line of their own. */
  #shipEntries(row: InstanceRow, share: ShareRow, audit: AuditContext): LedgerEntry[] {
    const what = `${share.id}: ${share.volumes.join(', ')}, ${share.bytes} bytes, sha256:${share.sha256}`;
    const reason = audit.reason === null ? what : `${audit.reason} (${what})`;
    const shipped = this.#entry(row, audit, 'bundle.shipped', { reason });
    return share.privateIncluded
      ? [shipped, this.#entry(row, audit, 'private.read', { reason: `in bundle ${share.id}` })]
      : [shipped];
  }

  /** Which of the names have no value in the tenant, for the ledger; empty when all have. */
  async #missing(tenant: string, names: readonly string[]): Promise<string> {
    const ofTenant = await this.#options.registry.environments.get('tenant', tenant);
    const known = effectiveVariables(ofTenant === null ? [] : [ofTenant]).filter(({ value }) => value !== null);
    const missing = names.filter((name) => !known.some((one) => one.name === name));
    if (missing.length === 0) return '';
    const more = missing.length > SHOWN_NAMES ? ` and ${missing.length - SHOWN_NAMES} more` : '';
    return `; variables without a value: ${missing.slice(0, SHOWN_NAMES).join(', ')}${more}`;
  }

  async #want({ id, tenant }: InstanceRow, names: readonly string[], actor: string): Promise<void> {
    const { registry, clock, log } = this.#options;
    try {
      await registry.environments.want({ kind: 'instance', owner: id, tenant }, names, {
        now: epochSeconds(clock),
        actor,
      });
    } catch (error) {
      // The sandbox is whole without the list of names, and its line of the ledger has them.
      log.warn({ id, err: error }, 'the names of its variables were not kept');
    }
  }

  /** The sandbox that the bundle was shipped from, when it is a share of the same tenant. */
  async #parentOf({ whole, manifest, members }: UnpackResult, tenant: string): Promise<InstanceId | null> {
    if (manifest === null) return null;
    const traits = { sha256: whole.sha256, id: manifest.id, diskSha256: members[DISK]?.sha256 ?? null };
    return (await this.#options.registry.shares.find(traits, { tenants: [tenant] }))?.instance ?? null;
  }

  /** Saves an upload and unpacks it in a temporary folder, which is removed after `use`. */
  async #unpackUpload<T>(
    actor: string,
    save: SaveUpload,
    signal: AbortSignal | undefined,
    use: (unpacked: UnpackResult, target: string) => Promise<T>,
  ): Promise<T> {
    return this.#transfers.withFolder(actor, async (folder) => {
      const file = join(folder, 'upload');
      const target = join(folder, 'rebuilt.sqlite');
      await save(file);
      const { maxSandboxBytes, maxFileBytes } = this.#options.config;
      const limits = { maxBytes: maxSandboxBytes, maxFileBytes };
      const { unpacked } = await this.#transfers.withProcess(folder, signal, async (startProcess) =>
        (await startProcess()).run({ kind: 'unpack', file, folder, target, limits }),
      );
      const rebuilt = unpacked.rebuilt && (await this.#transfers.hashed(target, unpacked.rebuilt));
      return use({ ...unpacked, rebuilt }, target);
    });
  }

  /** Runs `work`; a failure gets a ledger line of `type`. */
  async #recordingFailure<T>(
    about: { id: InstanceId | null; tenant: string },
    audit: AuditContext,
    type: string,
    work: () => Promise<T>,
  ): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!isWinterdockError(error) || error.code === 'internal')
        this.#options.log.error({ id: about.id, err: error }, type);
      const entry = ledgerEntry(this.#options, null, audit, type, {
        instance: about.id,
        tenant: about.tenant,
        error: publicMessage(error),
      });
      await this.#options.registry.ledger.append([entry]);
      throw error;
    }
  }

  #entry(row: InstanceRow, audit: AuditContext, type: string, extra: Partial<LedgerEntry> = {}): LedgerEntry {
    return ledgerEntry(this.#options, row, audit, type, extra);
  }
}

/** The rebuilt file, when the bundle has no faults. Throws them otherwise. */
function accepted({ rebuilt }: UnpackResult, { faults }: BundleVerification): VfsCopy {
  if (rebuilt === null || faults.length > 0) throw importRefusal(faults);
  return rebuilt;
}

/** Where an import came from, for the ledger. */
function originOf({ kind, manifest, whole }: UnpackResult, { issuer }: BundleVerification): string {
  const what = kind === 'vfs' ? 'a bare VFS file' : `bundle ${manifest?.id}`;
  const who = issuer === null ? 'UNSIGNED' : `signed by ${issuer}`;
  return `from ${what}, ${who}, sha256:${whole.sha256}`;
}

/** What the ledger says of a checkout that lacks something. */
function withoutWhat({ count, first }: LeftOutSummary): Partial<LedgerEntry> {
  if (count === 0) return {};
  const named = first.slice(0, SHOWN_NAMES).join(', ').slice(0, 300);
  return { reason: `without what git takes commands from, ${count} in all: ${named}` };
}

/** Names of variables that a bundle asks values for. One that no guest may be given is left out. */
function wantedNames({ manifest }: UnpackResult): string[] {
  return [...new Set(manifest?.env ?? [])].filter((name) => variableNameProblem(name) === null);
}

/** The path of the unpacked source of its workbook, beside the rebuilt file; null without one. */
function sourceIn({ members }: UnpackResult, rebuilt: string): string | null {
  return members[SOURCE] === undefined ? null : join(dirname(rebuilt), SOURCE);
}
