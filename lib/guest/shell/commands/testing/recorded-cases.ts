/** Scripts and what the real tools answered to them (record-cases.ts). */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface RecordedCase {
  name: string;
  script: string;
  /** As `formatOutcome` writes it. */
  outcome: string;
}

export interface CaseOutcome {
  stdout: string;
  stderr: string;
  exitCode: number;
}

/** Git's advice on its own settings is left out. */
export function formatOutcome({ stdout, stderr, exitCode }: CaseOutcome): string {
  const errors = stderr.replaceAll(/^hint: .*\n|^hint:\n/gm, '');
  return `${stdout}\n--- stderr\n${errors}\n--- exit ${exitCode}\n`;
}

export function recordedCases(folder: 'git' | 'sqlite'): RecordedCase[] {
  const path = join(import.meta.dirname, folder);
  return readdirSync(path)
    .filter((file) => file.endsWith('.sh'))
    .map((file) => ({
      name: file.replace('.sh', ''),
      script: readFileSync(join(path, file), 'utf8'),
      outcome: readFileSync(join(path, file.replace('.sh', '.out')), 'utf8'),
    }));
}
