/** The workbook that travels in a bundle: which source leaves with a sandbox, and what an import makes of it. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type Clock, epochSeconds } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { isWinterdockError, messageOf, WinterdockError } from '../base/errors.ts';
import { newId, SLUG } from '../base/ids.ts';
import type { Logger } from '../base/log.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import { requireScheduleLimit } from '../registry/registry-errors.ts';
import type { InstanceRow } from '../registry/types.ts';
import type { WorkbookRow } from '../registry/workbooks.ts';
import type { AuditContext } from '../sandboxes/sandboxes.ts';
import { KEPT_VERSIONS, MAX_WORKBOOKS, PLAN_BUILDER } from '../workbooks/limits.ts';
import type { SourceParser } from '../workbooks/source-parser.ts';
import type { Manifest } from './manifest.ts';

/** Names that are tried when the workbook's own is taken: `etl`, `etl-2`, … */
const TRIED_NAMES = 20;

export interface ImportedDocking {
  workbook: string | null;
  workbookVersion: number | null;
  /** What was done, to be put behind another sentence; empty without a workbook. */
  says: string;
  /** The workbook that was stored for it; null when none was. */
  stored: string | null;
}

interface CarriedWorkbooksParts {
  clock: Clock;
  config: Pick<Config, 'schedulesPerSandbox' | 'schedulesPerTenant'>;
  log: Logger;
  registry: Registry;
  sourceParser: SourceParser;
}

export class CarriedWorkbooks {
  readonly #parts: CarriedWorkbooksParts;

  constructor(parts: CarriedWorkbooksParts) {
    this.#parts = parts;
  }

  /** The source of the version that a sandbox is docked to; null without one. */
  async carried(row: InstanceRow): Promise<{ id: string; version: number; source: string } | null> {
    if (row.workbook === null || row.workbookVersion === null) return null;
    const stored = await this.#parts.registry.workbooks.version(row.tenant, row.workbook, row.workbookVersion);
    return stored === null ? null : { id: stored.id, version: stored.version, source: stored.source };
  }

  /**
   * Docks what a bundle carries: the tenant's workbook of the same hash, else a new one under its own name or a free
   * one. A source with problems is stored, and nothing is docked. `path`: of the unpacked source; null without one.
   * Throws `quota_exceeded` before anything is stored.
   */
  async dock(
    tenant: string,
    manifest: Manifest | null,
    path: string | null,
    audit: AuditContext,
  ): Promise<ImportedDocking> {
    if (path === null) return { workbook: null, workbookVersion: null, says: '', stored: null };
    const body = await readFile(path);
    const hash = createHash('sha256').update(body).digest('hex');
    const same = await this.#parts.registry.workbooks.ofHash(tenant, hash);
    if (same !== null) return dockedTo(same, 'which has the same source');
    const source = textOf(body);
    const named = manifest?.workbook?.id ?? '';
    const stored = await this.#store(tenant, SLUG.test(named) ? named : newId('wb'), { source, hash, body }, audit);
    if (stored.components === null) {
      const says = `; its workbook is stored as "${stored.id}" and not docked: it has ${stored.problems} problems`;
      return { workbook: null, workbookVersion: null, says, stored: stored.id };
    }
    return { ...dockedTo(stored, 'which is new'), stored: stored.id };
  }

  /** Takes back what `dock` stored for a sandbox that was not made after all. */
  async takeBack(tenant: string, { stored }: ImportedDocking, audit: AuditContext): Promise<void> {
    if (stored === null) return;
    const { clock, log, registry } = this.#parts;
    const reason = `${stored}: its import was refused`;
    const line = ledgerEntry({ clock }, null, { ...audit, reason }, 'workbook.deleted', { tenant });
    try {
      await registry.workbooks.remove(tenant, stored, line);
    } catch (error) {
      // Somebody has docked to it meanwhile, or the registry takes no writes: the import's own error is what counts.
      log.warn({ tenant, workbook: stored, error: messageOf(error) }, 'a workbook of a refused import stays');
    }
  }

  /** Throws `quota_exceeded` when there is no room for so many schedules. */
  async #requireRoom(tenant: string, schedules: number): Promise<void> {
    if (schedules === 0) return;
    const { config, registry } = this.#parts;
    const limits = { perSandbox: config.schedulesPerSandbox, perTenant: config.schedulesPerTenant };
    requireScheduleLimit({ instance: 'new' }, limits, 0, schedules);
    requireScheduleLimit({ tenant }, limits, await registry.schedules.usedBy(tenant), schedules);
  }

  async #store(
    tenant: string,
    name: string,
    { source, hash, body }: { source: string; hash: string; body: Buffer },
    audit: AuditContext,
  ): Promise<WorkbookRow> {
    const { clock, registry, sourceParser } = this.#parts;
    const { title, plan, problems, components, schedules } = await sourceParser.parse(tenant, source);
    await this.#requireRoom(tenant, schedules);
    const reason = `workbook from a bundle: ${body.length} bytes, sha256:${hash}`;
    for (let tried = 1; ; tried += 1) {
      const id = tried === 1 ? name : tried <= TRIED_NAMES ? `${name.slice(0, 50)}-${tried}` : newId('wb');
      try {
        const { row } = await registry.workbooks.put(
          {
            tenant,
            id,
            title,
            hash,
            bytes: body.length,
            components: plan === null ? null : components,
            problems: problems.length,
            source,
            plan,
            problemList: JSON.stringify(problems),
            builder: PLAN_BUILDER,
            schedules,
            now: epochSeconds(clock),
            actor: audit.actor,
          },
          { keep: KEPT_VERSIONS, most: MAX_WORKBOOKS },
          ledgerEntry({ clock }, null, { ...audit, reason: `${id}: ${reason}` }, 'workbook.put', { tenant }),
          { ifNoneMatch: '*' },
        );
        return row;
      } catch (error) {
        // The name is taken: the next one may be free.
        if (!isWinterdockError(error) || error.code !== 'precondition_failed') throw error;
      }
    }
  }
}

function dockedTo({ id, version }: WorkbookRow, why: string): ImportedDocking {
  return {
    workbook: id,
    workbookVersion: version,
    stored: null,
    says: `; docked to workbook "${id}", version ${version}, ${why}`,
  };
}

function textOf(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch (cause) {
    throw new WinterdockError('validation', 'The source of its workbook is not UTF-8.', { cause });
  }
}
