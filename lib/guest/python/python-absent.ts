/**
 * Parts of Python's library that lean on what a sandbox has not: sockets, threads, processes and the files of a build.
 * A socket would end the interpreter without a word. Knows nothing of requests, which are python-network.ts.
 */
import { TIMER_LINES } from './interpreter-timers.ts';
import { BUILD_DATA } from './python-platform.ts';

/** By the name of a module: lines that are run in it when it has been imported. */
const AFTER_IMPORT: Readonly<Record<string, readonly string[]>> = {
  // Its pair of sockets wakes a loop from other threads and signals; its threads run functions that block.
  'asyncio.selector_events': [
    'class _Clock(selectors.SelectSelector):',
    '    def select(self, timeout=None):',
    '        import time',
    '        while timeout is None: time.sleep(60)',
    '        if timeout > 0: time.sleep(timeout)',
    '        return []',
    '_begin = BaseSelectorEventLoop.__init__',
    'def _init(self, selector=None): _begin(self, selector or _Clock())',
    'def _inline(self, executor, func, *args):',
    '    self._check_closed()',
    '    done = self.create_future()',
    '    try: done.set_result(func(*args))',
    '    except StopIteration as error: done.set_exception(RuntimeError(str(error)))',
    '    except Exception as error: done.set_exception(error)',
    '    return done',
    'BaseSelectorEventLoop.__init__ = _init',
    'BaseSelectorEventLoop.run_in_executor = _inline',
    'BaseSelectorEventLoop._csock = BaseSelectorEventLoop._ssock = None',
    'BaseSelectorEventLoop._make_self_pipe = BaseSelectorEventLoop._close_self_pipe = lambda self: None',
  ],
  signal: TIMER_LINES,
  // `subprocess` said that the system of its build has no processes.
  subprocess: [
    'def _refuse(self, *args, **options): os.system("")',
    'Popen.__init__ = _refuse',
    'Popen.__del__ = lambda self: None',
  ],
  socket: [
    'def _refuse(self, *args, **options):',
    '    raise PermissionError(1, "a sandbox has no sockets: urllib.request and http.client send requests")',
    'def _pair(*args, **options): _refuse(None)',
    'for _name in ("bind", "connect", "connect_ex", "listen", "accept", "send", "sendall", "sendto", "sendmsg"):',
    '    setattr(socket, _name, _refuse)',
    'socketpair = _pair',
  ],
};

/** Lines, indented by one space, that make the imports of these modules go on so. */
export const ABSENT_SETUP: readonly string[] = [
  ' class Absent:',
  '  asked = False',
  `  after = ${JSON.stringify(Object.fromEntries(Object.entries(AFTER_IMPORT).map(([name, lines]) => [name, lines.join('\n')])))}`,
  '  @staticmethod',
  '  def find_spec(name, path=None, target=None):',
  '   if name not in Absent.after or Absent.asked: return None',
  '   Absent.asked = True',
  '   found = iter(finder.find_spec(name, path, target) for finder in sys.meta_path if finder is not Absent and hasattr(finder, "find_spec"))',
  '   spec = next((one for one in found if one is not None), None)',
  '   Absent.asked = False',
  '   if spec is None: return None',
  '   loader = spec.loader',
  '   class Loader:',
  '    def __getattr__(self, key): return getattr(loader, key)',
  '    def create_module(self, spec): return None',
  '    def exec_module(self, module):',
  '     loader.exec_module(module)',
  '     exec(compile(Absent.after[name], "<" + name + ">", "exec"), module.__dict__)',
  '   spec.loader = Loader()',
  '   return spec',
  ' sys.meta_path.insert(0, Absent)',
  // It returned -1, without a word.
  ' def no_processes(*args, **options):',
  '  raise OSError(138, "Python runs no other programs in a sandbox: call them in the shell, before or after it")',
  ' os.system = no_processes',
  ` build = type(sys)(${JSON.stringify(BUILD_DATA)})`,
  ' build.build_time_vars = {}',
  ` sys.modules.setdefault(${JSON.stringify(BUILD_DATA)}, build)`,
];
