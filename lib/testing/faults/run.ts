/** Runs one scenario under faults, in a folder of its own, and returns the findings. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBeside, SECOND } from './beside.ts';
import { afterCut, type Cut, canFail, cutsOf, effectsOf, FAILURES, type Failure, failing } from './fault.ts';
import type { Scenario } from './scenarios.ts';
import { openStage, type Stage } from './stage.ts';

export const CUTS = ['killed before', 'killed after', 'power cut after'] as const satisfies readonly Cut['kind'][];

/** The faults at an effect beside those that are always tried; null: none. */
export type Draw = (nth: number) => Cut['kind'] | Failure | null;

export interface Report {
  name: string;
  effects: number;
  /** How often each fault was tried, by name. */
  tried: Record<string, number>;
  /** Kills and cuts that left the same copy as one that was tried. */
  same: number;
  findings: string[];
}

/**
 * Kills after every effect, and applies the faults that `draw` chooses at each; without `draw`, all faults at every
 * effect. Kills and cuts with the same copy as the previous one are examined once.
 */
export function runScenario(scenario: Scenario, draw?: Draw): Promise<Report> {
  return run(scenario, draw, {});
}

/**
 * The same, with kills and power cuts alone, beside a first engine over the same registry, of which nothing may change.
 * `draw` as above.
 */
export function runBeside(scenario: Scenario, draw?: Draw): Promise<Report> {
  return run(scenario, draw, { isBeside: true });
}

/** The same as `runScenario` on a server with an object store, whose folder is cut with its own. */
export function runWithStore(scenario: Scenario, draw?: Draw): Promise<Report> {
  return run(scenario, draw, { stores: ['below the drawers'] });
}

/** The same on one with a replica, for which every answer waits. With `draw` each effect has what that says alone. */
export function runWithReplica(scenario: Scenario, draw?: Draw): Promise<Report> {
  return run(scenario, draw, { stores: ['replica'] });
}

async function run(
  scenario: Scenario,
  draw: Draw | undefined,
  { isBeside = false, stores = [] }: { isBeside?: boolean; stores?: Stage['stores'] },
): Promise<Report> {
  const base = mkdtempSync(join(tmpdir(), 'winterdock-faults-'));
  const folder = join(base, 'data');
  const into = join(base, 'cuts');
  for (const each of [folder, into]) mkdirSync(each, { mode: 0o700 });
  const report: Report = { name: scenario.name, effects: 0, tried: {}, same: 0, findings: [] };
  const count = (what: string) => {
    report.tried[what] = (report.tried[what] ?? 0) + 1;
  };
  const stage = await openStage(folder, isBeside ? SECOND : null, stores);
  try {
    const first = isBeside ? await openBeside(join(base, 'first'), folder) : null;
    const expectKept = (when: string, at: string, unrenewedMs?: number) => {
      for (const sentence of first?.changes(join(at, 'registry.sqlite'), unrenewedMs) ?? []) {
        report.findings.push(`${scenario.name}: ${when}: ${sentence}`);
      }
    };
    const effects = await effectsOf(stage, scenario);
    report.effects = effects.length;
    const wanted = (kind: Cut['kind'], nth: number) =>
      draw === undefined || draw(nth) === kind || (kind === 'killed after' && !stores.includes('replica'));
    const { id, cuts, same } = await cutsOf(stage, scenario, into, wanted);
    report.same = same;
    for (const cut of cuts) {
      count(cut.kind);
      const begunMs = performance.now();
      report.findings.push(...(await afterCut(stage, scenario, id, cut)));
      expectKept(`${cut.kind} effect ${cut.nth} (${cut.what})`, cut.folder, performance.now() - begunMs);
      rmSync(cut.folder, { recursive: true, force: true });
    }
    if (first !== null) {
      expectKept('without a fault', folder);
      report.findings.push(...(await first.end()));
      return report;
    }
    for (let nth = 1; nth <= report.effects; nth += 1) {
      for (const failure of FAILURES) {
        if (draw !== undefined && draw(nth) !== failure) continue;
        if (!canFail(effects[nth - 1], failure)) continue;
        count(failure);
        report.findings.push(...(await failing(stage, scenario, nth, failure)));
      }
    }
  } finally {
    await stage.stop();
    rmSync(base, { recursive: true, force: true });
  }
  return report;
}

/**
 * A reproducible choice by seed (mulberry32). `oneIn`: of so many effects one has a fault, and then any; left out, each
 * has one beside a kill after it.
 */
export function drawFrom(seed: number, name: string, oneIn?: number): Draw {
  const choices = [...CUTS.filter((kind) => oneIn !== undefined || kind !== 'killed after'), ...FAILURES];
  return (nth) => {
    if (oneIn !== undefined && (seed + nth) % oneIn !== 0) return null;
    let state = seed + nth * 0x9e3779b9;
    for (const letter of name) state = Math.imul(state ^ letter.charCodeAt(0), 0x01000193);
    state = Math.imul(state ^ (state >>> 15), state | 1);
    state ^= state + Math.imul(state ^ (state >>> 7), state | 61);
    return choices[((state ^ (state >>> 14)) >>> 0) % choices.length] ?? 'ENOSPC';
  };
}
