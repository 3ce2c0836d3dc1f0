/** `env`, and the commands that start another one with other surroundings, which a sandbox does not have. */
import { type CommandCall, marked, type OwnCommand } from './own-command.ts';

const FAILED_EXIT = 125;

export const env: OwnCommand = {
  usageExit: FAILED_EXIT,
  async main(call: CommandCall) {
    const { options, operands } = call.options({
      letters: '0C:iS:u:v',
      long: {
        'chdir=': 'C',
        debug: 'v',
        'ignore-environment': 'i',
        null: '0',
        'split-string=': 'S',
        'unset=': 'u',
      },
      stopAtOperand: true,
    });
    const has = (key: string) => options.some((option) => option.key === key);
    const words = [...options.flatMap(({ key, value }) => (key === 'S' ? wordsOf(value ?? '') : [])), ...operands];
    const empty = has('i') || words[0] === '-';
    if (words[0] === '-') words.shift();
    const variables = new Map(empty ? [] : Object.entries(call.context.exportedEnv ?? {}));
    for (const { key, value } of options) if (key === 'u') variables.delete(value ?? '');
    while (words[0]?.includes('=') && !words[0].startsWith('=')) {
      const [assignment = ''] = words.splice(0, 1);
      const at = assignment.indexOf('=');
      variables.set(assignment.slice(0, at), assignment.slice(at + 1));
    }
    const directory = options.findLast(({ key }) => key === 'C')?.value ?? null;
    if (words.length === 0) {
      if (directory !== null) call.usage('must specify command with --chdir (-C)');
      for (const [name, value] of variables) call.print(`${name}=${value}${has('0') ? '\0' : '\n'}`);
      return 0;
    }
    if (directory !== null && !call.files.isDirectory(call.path(directory)))
      call.end(`cannot change directory to ${marked(directory)}: No such file or directory`, FAILED_EXIT);
    // What `env` starts as `env` prints these variables and no others.
    if (words.length === 1 && words[0] === 'env') {
      for (const [name, value] of variables) call.print(`${name}=${value}\n`);
      return 0;
    }
    if (call.requireProgram(words[0] ?? '')) return call.exitCode;
    return call.run(words, {
      env: Object.fromEntries(variables),
      replaceEnv: true,
      inheritsStdin: true,
      ...(directory !== null && { cwd: call.path(directory) }),
    });
  },
};

/** The words of -S: split at blanks, with quotes and backslashes. */
function wordsOf(text: string): string[] {
  return [...text.matchAll(/(?:"((?:\\.|[^"])*)"|'([^']*)'|((?:\\.|[^\s"'])+))/g)].map(
    ([, double, single, plain]) => single ?? (double ?? plain ?? '').replaceAll(/\\(.)/g, '$1'),
  );
}

/** A command that only starts another one: `letters` and `long` are the options before it. */
function wrapper(letters: string, long: Record<string, string>, alone: string | null): OwnCommand {
  return {
    usageExit: FAILED_EXIT,
    async main(call: CommandCall) {
      const { operands } = call.options({ letters, long, stopAtOperand: true });
      if (operands.length === 0) {
        if (alone === null) call.usage('missing operand');
        call.print(alone);
        return 0;
      }
      if (
        call.requireProgram(
          operands[0] ?? '',
          call.name === 'nohup' || call.name === 'stdbuf' ? 'failed to run command' : '',
        )
      )
        return call.exitCode;
      return call.run(operands, { inheritsStdin: true });
    },
  };
}

export const nohup = wrapper('', {}, null);
export const nice = wrapper('n:', { 'adjustment=': 'n' }, '0\n');
export const stdbuf = wrapper('i:o:e:', { 'error=': 'e', 'input=': 'i', 'output=': 'o' }, null);
export const setsid = wrapper('cfw', { ctty: 'c', fork: 'f', wait: 'w' }, null);
export const ionice = wrapper('c:n:tp:', { 'class=': 'c', 'classdata=': 'n', ignore: 't' }, 'none: prio 0\n');

export const printenv: OwnCommand = {
  usageExit: 2,
  main(call: CommandCall) {
    const { options, operands } = call.options({ letters: '0', long: { null: '0' } });
    const end = options.length > 0 ? '\0' : '\n';
    const variables = call.context.exportedEnv ?? {};
    if (operands.length === 0) {
      for (const [name, value] of Object.entries(variables)) call.print(`${name}=${value}${end}`);
      return 0;
    }
    for (const name of operands) {
      const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
      if (value === undefined) call.exitCode = 1;
      else call.print(value + end);
    }
    return undefined;
  },
};
