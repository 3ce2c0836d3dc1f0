/**
 * Requests of Python: `http.client`, and what stands on it (`urllib.request`), send through a file of their own instead
 * of a socket. What is written there is a request, what is read next is its answer, page by page. Knows no rules.
 */
import type { FetchAnswer, FetchRequest } from '../../workers/protocol/fetch-messages.ts';
import type { FilePort } from '../shell/guest-files.ts';
import { NETWORK_MODULE, NETWORK_PORT } from './python-network-module.ts';

/** Bytes of one reading: what the thread of Python passes on at a time. */
const PAGE_BYTES = 4_000_000;
const LENGTH_BYTES = 4;

/** Lines, indented by one space, that make `import http.client` go on with the module's source. */
export const NETWORK_SETUP = [
  ' class Network:',
  // The shell's own finder asks all others too.
  '  asked = False',
  '  @staticmethod',
  '  def find_spec(name, path=None, target=None):',
  '   if name == "http.client" and not Network.asked:',
  '    Network.asked = True',
  '    found = iter(finder.find_spec(name, path, target) for finder in sys.meta_path if finder is not Network and hasattr(finder, "find_spec"))',
  '    spec = next((one for one in found if one is not None), None)',
  '    Network.asked = False',
  '    plain = spec.loader.exec_module',
  '    class Loader:',
  '     def __getattr__(self, name):',
  '      return getattr(self.plain, name)',
  '     def create_module(self, spec):',
  '      return None',
  '     def exec_module(self, module):',
  '      plain(module)',
  '      import os',
  `      fd = os.open("${NETWORK_PORT}", os.O_RDONLY)`,
  '      parts = iter(lambda: os.read(fd, 65536), b"")',
  '      source = b"".join(parts)[1:].decode()',
  '      os.close(fd)',
  '      exec(compile(source, "<http.client>", "exec"), {"client": module})',
  '    loader = Loader()',
  '    loader.plain = spec.loader',
  '    spec.loader = loader',
  '    return spec',
  ' sys.meta_path.insert(0, Network)',
];

export class PythonNetworkPort implements FilePort {
  readonly #fetch: (request: FetchRequest) => Promise<FetchAnswer>;
  /** What is left of the answer; null before the first request. */
  #rest: Buffer | null = null;

  constructor(fetch: (request: FetchRequest) => Promise<FetchAnswer>) {
    this.#fetch = fetch;
  }

  async write(content: Uint8Array): Promise<void> {
    const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
    if (bytes.byteLength < 2 * LENGTH_BYTES) return;
    const end = LENGTH_BYTES + bytes.readUInt32BE(0);
    const bodyAt = 2 * LENGTH_BYTES + bytes.readUInt32BE(LENGTH_BYTES);
    const { url, method, headers, timeout } = JSON.parse(bytes.toString('utf8', 2 * LENGTH_BYTES, bodyAt)) as {
      url: string;
      method: string;
      headers: [string, string][];
      timeout: number | null;
    };
    const body = bodyAt < end ? Uint8Array.from(bytes.subarray(bodyAt, end)) : null;
    const timeoutMs = timeout === null ? null : Math.min(Math.max(timeout * 1000, 1), 3_600_000);
    const answer = await this.#fetch({ url, method, headers, body, decode: false, timeoutMs });
    const { received, meta } =
      'status' in answer
        ? { received: answer.body, meta: { status: answer.status, reason: answer.statusText, headers: answer.headers } }
        : { received: new Uint8Array(0), meta: answer };
    const head = Buffer.from(JSON.stringify(meta));
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32BE(head.byteLength);
    this.#rest = Buffer.concat([length, head, received]);
  }

  /** A page of the answer, after a byte that says whether there are more. Before any request: the module's source. */
  read(): Promise<Uint8Array> {
    const all = this.#rest ?? Buffer.from(NETWORK_MODULE);
    const page = all.subarray(0, PAGE_BYTES);
    const hasMore = page.byteLength < all.byteLength;
    if (this.#rest !== null) this.#rest = all.subarray(page.byteLength);
    return Promise.resolve(Buffer.concat([Buffer.from([hasMore ? 1 : 0]), page]));
  }
}
