/**
 * Reads the conformance table and the trials beside it: `table/*.txt` and `trials/*.txt`, a file per subject. A line
 * `## form` begins a form, every other line is one invocation, and an invocation of several lines stands between `{{{`
 * and `}}}`. Lines that begin with `//` are comments.
 */
import { readdirSync, readFileSync } from 'node:fs';

export interface Invocation {
  /** The name of its file. */
  subject: string;
  form: string;
  command: string;
}

/** Subjects that are commands of frameworks, recorded while these ran (record-frameworks.mjs). */
export const FRAMEWORK_SUBJECTS: readonly string[] = ['ai-sdk', 'deepagents', 'openai-agents'];

/** A third of it is of frameworks. */
const TABLE = new URL('./table/', import.meta.url);
/** Scripts and lines written after the table, as agents write them: many were once answered otherwise here. */
const TRIALS = new URL('./trials/', import.meta.url);

export function readTable(): Invocation[] {
  return invocationsIn(TABLE);
}

export function readTrials(): Invocation[] {
  return invocationsIn(TRIALS);
}

function invocationsIn(folder: URL): Invocation[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.txt'))
    .toSorted()
    .flatMap((name) => parseTable(name.replace(/\.txt$/, ''), readFileSync(new URL(name, folder), 'utf8')));
}

function parseTable(subject: string, text: string): Invocation[] {
  const invocations: Invocation[] = [];
  let form = '';
  let open: string[] | null = null;
  for (const line of text.split('\n')) {
    if (open !== null) {
      if (line !== '}}}') {
        open.push(line);
        continue;
      }
      invocations.push({ subject, form, command: open.join('\n') });
      open = null;
    } else if (line === '{{{') open = [];
    else if (line.startsWith('## ')) form = line.slice(3);
    else if (line !== '' && !line.startsWith('//')) invocations.push({ subject, form, command: line });
  }
  if (open !== null) throw new Error(`table/${subject}.txt has an invocation that is not closed.`);
  return invocations;
}
