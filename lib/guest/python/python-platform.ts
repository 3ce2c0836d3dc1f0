/**
 * What Python says of the system below it: Linux, as the shell's `uname` does. The interpreter was built for another
 * one, whose names programs know nothing of; a sandbox's paths, users and files are Linux's.
 */

/** What the interpreter was built for, and what is asked of it by this name. */
const BUILT_FOR = 'emscripten';
const PLATFORM = 'linux';
const MULTIARCH = 'x86_64-linux-gnu';
/** What CPython's build wrote about itself has this name. */
export const BUILD_DATA = `_sysconfigdata__${PLATFORM}_${MULTIARCH}`;
/** Modules that ask at their import for functions of Linux that were not built. */
const OF_THE_BUILD = ['subprocess', 'uuid'];

/** Lines of a Python function after which the platform is Linux, except for the import of such modules. */
export const PLATFORM_SETUP: readonly string[] = [
  ' import os, sys',
  ` sys.platform, sys.implementation._multiarch = "${PLATFORM}", "${MULTIARCH}"`,
  ' system = os.uname_result(("Linux", "localhost", "6.1.0", "#1 SMP", "x86_64"))',
  ' os.uname = lambda: system',
  ' class Built:',
  '  @staticmethod',
  '  def find_spec(name, path=None, target=None):',
  `   if name not in ${JSON.stringify(OF_THE_BUILD)}: return None`,
  '   rest = sys.meta_path[sys.meta_path.index(Built) + 1:]',
  '   found = (finder.find_spec(name, path, target) for finder in rest if hasattr(finder, "find_spec"))',
  '   spec = next((one for one in found if one is not None), None)',
  '   if spec is None or spec.loader is None: return spec',
  '   loader = spec.loader',
  '   class Loader:',
  '    def __getattr__(self, key): return getattr(loader, key)',
  '    def create_module(self, spec): return None',
  '    def exec_module(self, module):',
  `     sys.platform = "${BUILT_FOR}"`,
  '     try: loader.exec_module(module)',
  `     finally: sys.platform = "${PLATFORM}"`,
  '   spec.loader = Loader()',
  '   return spec',
  ' sys.meta_path.insert(0, Built)',
];
