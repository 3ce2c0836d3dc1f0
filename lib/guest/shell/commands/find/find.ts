/** `find`: walks the trees and evaluates the expression for each file. */
import type { FileStatus } from '../command-files.ts';
import { type CommandCall, type OwnCommand, reasonOf } from '../own-command.ts';
import { parseFind } from './find-expression.ts';
import { FindError, type FindFile, type FindPlan } from './find-plan.ts';
import { FindRun } from './find-run.ts';

class Walk {
  readonly #call: CommandCall;
  readonly #plan: FindPlan;
  readonly #run: FindRun;

  constructor(call: CommandCall, plan: FindPlan) {
    this.#call = call;
    this.#plan = plan;
    this.#run = new FindRun(call, plan);
  }

  async roots(): Promise<void> {
    for (const path of this.#plan.paths) {
      if (this.#run.quits) break;
      try {
        const follow = this.#plan.links !== 'P';
        const info = this.#info(this.#call.path(path), follow);
        await this.#visit({ path, root: path, depth: 0, info, absolute: this.#call.path(path) }, []);
      } catch (error) {
        this.#complain(path, error);
      }
    }
    await this.#run.finish();
  }

  /** With -L a link that leads nowhere is the link itself. */
  #info(path: string, follow: boolean): FileStatus {
    if (!follow) return this.#call.files.info(path, false);
    try {
      const target = this.#call.files.look(path, true);
      if (target !== null) return target;
    } catch (error) {
      if (reasonOf(error) !== 'Too many levels of symbolic links') throw error;
    }
    return this.#call.files.info(path, false);
  }

  async #visit(file: FindFile, above: readonly string[]): Promise<void> {
    await this.#call.turn();
    const { maxDepth, minDepth, depthFirst } = this.#plan;
    if (file.info.kind === 'dir' && above.includes(file.info.path)) {
      const loop = above.indexOf(file.info.path);
      const name = file.path
        .split('/')
        .slice(0, file.path.split('/').length - (above.length - loop))
        .join('/');
      this.#call.fail(`File system loop detected; ‘${file.path}’ is part of the same file system loop as ‘${name}’.`);
      return;
    }
    const wanted = file.depth >= minDepth;
    let pruned = false;
    if (wanted && !depthFirst) pruned = await this.#run.evaluate(file);
    if (file.info.kind === 'dir' && !pruned && file.depth < maxDepth && !this.#run.quits)
      await this.#children(file, above);
    if (wanted && depthFirst && !this.#run.quits) await this.#run.evaluate(file);
  }

  async #children(file: FindFile, above: readonly string[]): Promise<void> {
    const followed = this.#plan.links === 'L';
    const inside = [...above, file.info.path];
    const told = (error: unknown) => this.#complain(file.path, error);
    for (const child of this.#call.files.childrenOr(file.info.path, told) ?? []) {
      if (this.#run.quits) return;
      const path = file.path.endsWith('/') ? file.path + child.name : `${file.path}/${child.name}`;
      const info = child.kind === 'link' && followed ? this.#info(child.path, true) : child;
      await this.#visit({ path, root: file.root, depth: file.depth + 1, info, absolute: child.path }, inside);
    }
  }

  #complain(path: string, error: unknown): void {
    this.#call.fail(`‘${path}’: ${reasonOf(error)}`);
  }
}

export const find: OwnCommand = {
  like: 'findutils 4.9.0',
  async main(call) {
    if (call.args.includes('--version') || call.args.includes('-version')) {
      call.print("find (built into the sandbox's shell, as GNU findutils 4.9.0)\n");
      return 0;
    }
    if (call.args.includes('--help') || call.args.includes('-help')) {
      call.print('Usage: find [-H] [-L] [-P] [-Olevel] [-D debugopts] [path...] [expression]\n');
      return 0;
    }
    try {
      const plan = parseFind(call);
      await new Walk(call, plan).roots();
      return call.exitCode;
    } catch (error) {
      if (!(error instanceof FindError)) throw error;
      call.fail(error.message);
      return 1;
    }
  },
};
