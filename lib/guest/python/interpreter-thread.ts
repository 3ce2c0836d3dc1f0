/**
 * Entry of the thread that runs one Python program: CPython as just-bash brings it, with the calls of its system
 * answered by the worker (interpreter-system.ts). Its own library is all that it reads of the machine.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { AskingEnd, type InterpreterStart } from './interpreter-channel.ts';
import { InterpreterMemory } from './interpreter-memory.ts';
import type { EmscriptenFiles } from './interpreter-streams.ts';
import { InterpreterSystem } from './interpreter-system.ts';
import { pythonFolder } from './python-folder.ts';
import { WorkerCalls } from './worker-calls.ts';

const LIBRARY = '/lib/python313.zip';
const PROGRAM = '/lib/program.py';
/** What CPython always says when it starts here. */
const NOISE = ['Could not find platform', 'LLVM Profile Error'];
const CRASHED_EXIT = 1;
/** What a shell says of a program that a timer's signal has ended. */
const ALARM = 'Alarm clock\n';

interface PythonModule {
  FS: EmscriptenFiles;
  ENV: Record<string, string | undefined>;
  callMain(args: string[]): number;
}

void run(process.getBuiltinModule('node:worker_threads').workerData as InterpreterStart);

async function run({ memory: shared, args, program, stdin, cwd }: InterpreterStart): Promise<void> {
  const require = createRequire(import.meta.url);
  const folder = pythonFolder(import.meta.url);
  const create = require(join(folder, 'python.cjs')) as (options: object) => Promise<PythonModule>;
  const memory = new InterpreterMemory();
  const system = new InterpreterSystem(new WorkerCalls(new AskingEnd(shared)), memory, { stdin, cwd });
  const python = await create({
    noInitialRun: true,
    // Otherwise the path of this file, which the guest reads in its environment.
    thisProgram: 'python3',
    instantiateWasm: (imports: WebAssembly.Imports, receive: (instance: WebAssembly.Instance) => void) => {
      const take = ({ instance }: WebAssembly.WebAssemblyInstantiatedSource) => {
        memory.begin(instance);
        receive(instance);
      };
      void WebAssembly.instantiate(readFileSync(join(folder, 'python.wasm')), system.replaced(imports)).then(take);
    },
    preRun: [
      ({ FS, ENV }: PythonModule) => {
        FS.init(() => null);
        FS.mkdirTree('/lib');
        FS.writeFile(LIBRARY, new Uint8Array(readFileSync(join(folder, 'python313.zip'))));
        Object.assign(ENV, { PYTHONHOME: '/', PYTHONPATH: LIBRARY, _: '/usr/bin/python3' });
        system.begin(FS);
      },
    ],
    print: (text: string) => system.print(1, Buffer.from(`${text}\n`)),
    printErr: (text: string) => {
      if (!NOISE.some((words) => text.includes(words))) system.print(2, Buffer.from(`${text}\n`));
    },
  });
  if (program !== null) python.FS.writeFile(PROGRAM, program);
  const exitCode = exitCodeOf(python, program === null ? args : [PROGRAM, ...args], system);
  if (system.timers.isRaising) system.print(2, Buffer.from(ALARM));
  system.exit(exitCode);
}

function exitCodeOf(python: PythonModule, args: string[], system: InterpreterSystem): number {
  try {
    return python.callMain(args) & 0xff;
  } catch (error) {
    const { status, message } = error as { status?: number; message?: string };
    if (status !== undefined) return status & 0xff;
    system.print(2, Buffer.from(`Fatal Python error: ${message ?? String(error)}\n`));
    return CRASHED_EXIT;
  }
}
