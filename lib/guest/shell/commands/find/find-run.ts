/** Evaluates the expression of a `find` for one file after the other, and does its actions. */
import { diskBlocks, inodeOf } from '../command-files.ts';
import { modeLetters, OWNER } from '../file-words.ts';
import { recentTime } from '../ls/ls-format.ts';
import { type CommandCall, marked, reasonOf } from '../own-command.ts';
import { formatFound } from './find-format.ts';
import { baseName, type FindAction, type FindFile, type FindNode, type FindPlan } from './find-plan.ts';

/** Bytes of arguments of one command of `-exec … +`. */
const ARGUMENT_BYTES = 131_072;

interface Batch {
  command: string[];
  directory: string | null;
  paths: string[];
  bytes: number;
}

export class FindRun {
  quits = false;
  readonly #call: CommandCall;
  readonly #plan: FindPlan;
  readonly #batches = new Map<FindAction, Batch>();
  readonly #written = new Map<string, string[]>();
  #pruned = false;

  constructor(call: CommandCall, plan: FindPlan) {
    this.#call = call;
    this.#plan = plan;
    this.#openWritten(plan.node);
  }

  /** True when the file's children are not to be visited. */
  async evaluate(file: FindFile): Promise<boolean> {
    this.#pruned = false;
    await this.#value(this.#plan.node, file);
    return this.#pruned;
  }

  /** Runs the commands that wait for more files, and writes the files of -fprint. */
  async finish(): Promise<void> {
    for (const batch of this.#batches.values()) await this.#runBatch(batch);
    for (const [file, parts] of this.#written) {
      if (file === '/dev/stdout') this.#call.print(parts.join(''));
      else if (file === '/dev/stderr') this.#call.warn(parts.join(''));
      else await this.#call.changes.writeFile(this.#call.path(file), parts.join(''));
    }
  }

  async #value(node: FindNode, file: FindFile): Promise<boolean> {
    if (this.quits) return false;
    switch (node.kind) {
      case 'test':
        return node.test(file);
      case 'act':
        return this.#act(node.act, file);
      case 'not':
        return !(await this.#value(node.node, file));
      case 'and':
        return (await this.#value(node.left, file)) && this.#value(node.right, file);
      case 'or':
        return (await this.#value(node.left, file)) || this.#value(node.right, file);
      case 'list':
        await this.#value(node.left, file);
        return this.#value(node.right, file);
    }
  }

  async #act(act: FindAction, file: FindFile): Promise<boolean> {
    switch (act.action) {
      case 'print':
        this.#call.print(`${file.path}\n`);
        return true;
      case 'print0':
        this.#call.print(`${file.path}\0`);
        return true;
      case 'printf':
        this.#call.print(formatFound(act.format, file, this.#call));
        return true;
      case 'write':
        this.#written
          .get(act.file)
          ?.push(act.format === null ? file.path + act.end : formatFound(act.format, file, this.#call));
        return true;
      case 'ls':
        this.#call.print(this.#listed(file));
        return true;
      case 'prune':
        if (!this.#plan.depthFirst) this.#pruned = true;
        return true;
      case 'quit':
        this.quits = true;
        return true;
      case 'delete':
        return this.#delete(file);
      case 'exec':
        return act.many ? this.#gather(act, file) : this.#exec(act, file);
    }
  }

  async #delete(file: FindFile): Promise<boolean> {
    if (file.path === '.') return true;
    try {
      await this.#call.changes.rm(file.absolute);
      return true;
    } catch (error) {
      this.#call.fail(`cannot delete ${marked(file.path)}: ${reasonOf(error)}`);
      return false;
    }
  }

  async #exec(act: Extract<FindAction, { action: 'exec' }>, file: FindFile): Promise<boolean> {
    const { directory, path } = placeOf(act.inDirectory, file);
    const command = act.command.map((word) => word.replaceAll('{}', path));
    if (act.asks) {
      this.#call.warn(`< ${act.command[0] ?? ''} ... ${file.path} > ? `);
      return false;
    }
    return (await this.#runCommand(command, directory)) === 0;
  }

  async #gather(act: Extract<FindAction, { action: 'exec' }>, file: FindFile): Promise<boolean> {
    const { directory, path } = placeOf(act.inDirectory, file);
    let batch = this.#batches.get(act);
    const size = Buffer.byteLength(path) + 1;
    if (batch !== undefined && (batch.bytes + size > ARGUMENT_BYTES || batch.directory !== directory)) {
      await this.#runBatch(batch);
      batch = undefined;
    }
    batch ??= { command: act.command, directory, paths: [], bytes: 0 };
    this.#batches.set(act, batch);
    batch.paths.push(path);
    batch.bytes += size;
    return true;
  }

  async #runBatch({ command, paths, directory }: Batch): Promise<void> {
    if ((await this.#runCommand([...command, ...paths], directory)) !== 0) this.#call.exitCode = 1;
  }

  async #runCommand(command: string[], directory: string | null): Promise<number> {
    const cwd = directory === null ? this.#call.cwd : this.#call.path(directory);
    const exitCode = await this.#call.run(command, { cwd });
    return exitCode;
  }

  #listed(file: FindFile): string {
    const { info } = file;
    const columns = [
      String(inodeOf(info)).padStart(9),
      String(diskBlocks(info) / 2).padStart(6),
      modeLetters(info),
      String(this.#call.files.links(info)).padStart(3),
      OWNER.name.padEnd(8),
      OWNER.name.padEnd(8),
      String(info.size).padStart(8),
      recentTime(info.mtime, Date.now() / 1000),
      file.path,
    ];
    return `${columns.join(' ')}${info.kind === 'link' ? ` -> ${info.target ?? ''}` : ''}\n`;
  }

  /** The files of -fprint exist even when nothing is written to them. */
  #openWritten(node: FindNode): void {
    if (node.kind === 'act' && node.act.action === 'write') this.#written.set(node.act.file, []);
    if (node.kind === 'not') this.#openWritten(node.node);
    if ('left' in node) {
      this.#openWritten(node.left);
      this.#openWritten(node.right);
    }
  }
}

function placeOf(inDirectory: boolean, file: FindFile): { directory: string | null; path: string } {
  if (!inDirectory) return { directory: null, path: file.path };
  const above = file.absolute.slice(0, file.absolute.lastIndexOf('/')) || '/';
  return { directory: above, path: `./${baseName(file.path)}` };
}
