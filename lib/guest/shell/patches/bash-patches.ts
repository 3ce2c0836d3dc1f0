// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of what is changed.
/**
 * Patches of just-bash that keep bytes intact, and the function that applies all patches. The shell's commands pass on
 * either bytes (one char each) or text. The original mixes the two in places, which changes the bytes. Every patch
 * names text that must occur exactly once in its file; `$bytes` is byte-text.ts.
 */

import { AWK_FUNCTION_PATCHES } from './awk-function-patches.ts';
import { AWK_LANGUAGE_PATCHES } from './awk-language-patches.ts';
import { AWK_PATCHES } from './awk-patches.ts';
import { AWK_VALUE_PATCHES } from './awk-value-patches.ts';
import { ARITHMETIC_PATCHES } from './bash-arithmetic-patches.ts';
import { COMMAND_PATCHES } from './bash-command-patches.ts';
import { INPUT_PATCHES } from './bash-input-patches.ts';
import { LANGUAGE_PATCHES } from './bash-language-patches.ts';
import { MESSAGE_PATCHES } from './bash-message-patches.ts';
import {
  AWK_FILE,
  type BashPatch,
  INTERPRETER_FILE,
  PRINTF_FILE,
  PRINTS_FIRST,
  SHELLS_FILE,
  TAR_FILE,
} from './bash-patch.ts';
import { PIPE_PATCHES } from './bash-pipe-patches.ts';
import { REDIRECTION_PATCHES } from './bash-redirection-patches.ts';
import { SCRIPT_PATCHES } from './bash-script-patches.ts';
import { SHELLS_PATCHES } from './bash-shells-patches.ts';
import { TRACE_PATCHES } from './bash-trace-patches.ts';
import { TRUNCATION_PATCHES } from './bash-truncation-patches.ts';
import { WORD_PATCHES } from './bash-word-patches.ts';

const BYTE_TEXT = new URL('../../../workers/protocol/byte-text.ts', import.meta.url).href;
const EXACT_INTEGERS = new URL('../exact-integers.ts', import.meta.url).href;
const AWK_TEXT = new URL('../awk-text.ts', import.meta.url).href;
const AWK_VALUES = new URL('../awk-values.ts', import.meta.url).href;
const AWK_LANGUAGE = new URL('../awk-language.ts', import.meta.url).href;
const AWK_FUNCTIONS = new URL('../awk-functions.ts', import.meta.url).href;
const AWK_COMMANDS = new URL('../awk-commands.ts', import.meta.url).href;
const PIPES = new URL('../pipes.ts', import.meta.url).href;
const TURNS = new URL('../thread-turns.ts', import.meta.url).href;
const OUTLETS = new URL('../outlets.ts', import.meta.url).href;
const LIVE_FILES = new URL('../live-files.ts', import.meta.url).href;
const TEES = new URL('../tees.ts', import.meta.url).href;
const TRAPS = new URL('../shell-traps.ts', import.meta.url).href;
const MAPFILE_OPTIONS = new URL('../mapfile-options.ts', import.meta.url).href;
const SHELL_ARGUMENTS = new URL('../shell-arguments.ts', import.meta.url).href;
const UMASK = new URL('../shell-umask.ts', import.meta.url).href;
const USES = new URL('../declared-uses.ts', import.meta.url).href;
const TAR_MEMBERS = new URL('../commands/tar-members.ts', import.meta.url).href;
const ERROR_LINES = new URL('../error-lines.ts', import.meta.url).href;
const ARITHMETIC_ERRORS = new URL('../arithmetic-errors.ts', import.meta.url).href;
const ENDLESS_INPUTS = new URL('../endless-inputs.ts', import.meta.url).href;
const POSIX_ERRORS = new URL('../posix-error.ts', import.meta.url).href;
const HASH_ORDER = new URL('../hash-order.ts', import.meta.url).href;
const GLOBS = new URL('../recursive-globs.ts', import.meta.url).href;
const SELECT_LOOPS = new URL('../select-loops.ts', import.meta.url).href;
const CALL_FRAMES = new URL('../call-frames.ts', import.meta.url).href;
const TIME_FORMAT = new URL('../time-format.ts', import.meta.url).href;
const COMMAND_CONTEXT = new URL('../command-context.ts', import.meta.url).href;

const CODEC = 'chunks/chunk-GN6CQ3J4.js';
const ESCAPES = 'chunks/chunk-6D3WD6YU.js';
const ECHO = 'chunks/chunk-AGH5UJJI.js';

const BYTE_PATCHES: readonly BashPatch[] = [
  // The codec read bytes that are not UTF-8 as Latin-1 and wrote them back as UTF-8.
  {
    file: CODEC,
    from: 'var u=new TextDecoder("utf-8",{fatal:!0}),y=new TextEncoder,',
    to: 'var u={decode:$bytes.textOfBytes},y={encode:$bytes.bytesOfText},',
  },
  // The conversion went byte by byte, which took seconds for a few megabytes.
  {
    file: CODEC,
    from: 'let r=new Uint8Array(e.length);for(let i=0;i<e.length;i++)r[i]=e.charCodeAt(i);try{return u.decode(r)}catch{return e}',
    to: 'return u.decode(Buffer.from(e,"latin1"))',
  },
  {
    file: CODEC,
    from: 'let e=y.encode(t),o="";for(let r=0;r<e.length;r++)o+=String.fromCharCode(e[r]);return o',
    to: 'return Buffer.from(y.encode(t)).toString("latin1")',
  },
  // Lengths were counted char by char, several times for each output: a tenth of a `cat` of 4 kB, and more before V8
  // has compiled the loops.
  { file: CODEC, from: 'function x(t){let n=0;for(', to: 'function x(t){return Buffer.byteLength(t);let n=0;for(' },
  {
    file: CODEC,
    from: 'let o=!1;for(let i=0;i<e.length;i++){let c=e.charCodeAt(i);if(c>255)return e;c>127&&(o=!0)}if(!o)return e;',
    to: 'if(!/[^\\0-\\x7f]/.test(e)||/[^\\0-\\xff]/.test(e))return e;',
  },
  // `read` and `mapfile` treated input bytes as text, and `read -n` counted bytes.
  {
    file: INTERPRETER_FILE,
    from: 'let S=i===""?"\\0":i,v="",k=0,',
    to: 'let $text=y&&g?.kind==="readwrite";a>0&&!$text&&(a=$bytes.bytesOfCharacters(b,a));l>0&&!$text&&(l=$bytes.bytesOfCharacters(b,l)||l);let S=i===""?"\\0":i,v="",k=0,',
  },
  {
    file: INTERPRETER_FILE,
    from: 'v=b.substring(0,_),C(v),N=_,P=_>=l,$(N);',
    to: 'v=b.substring(0,_),C(v),N=_,P=_>=l,$(N);$text||(v=Vf(v));',
  },
  { file: INTERPRETER_FILE, from: 'S===`\n`&&v.endsWith(`\n`)&&', to: '$text||(v=Vf(v));S===`\n`&&v.endsWith(`\n`)&&' },
  {
    file: INTERPRETER_FILE,
    from: '"string_length");f.push(g)};for(;d<u.length;)',
    to: '"string_length");f.push(Vf(g))};for(;d<u.length;)',
  },
  // `exec 3< file` and `3<<< text` kept text, which `<&3` gave as bytes: everything beyond ASCII was changed.
  { file: INTERPRETER_FILE, from: 'lt(e,C,{kind:"input",content:A})', to: 'lt(e,C,{kind:"input",content:Tt(A)})' },
  { file: INTERPRETER_FILE, from: 'lt(e,S,{kind:"input",content:A})', to: 'lt(e,S,{kind:"input",content:Tt(A)})' },
  { file: INTERPRETER_FILE, from: 'let C={kind:"input",content:A};', to: 'let C={kind:"input",content:Tt(A)};' },
  { file: INTERPRETER_FILE, from: 'P={kind:"input",content:`${v}\n`}', to: 'P={kind:"input",content:Tt(`${v}\n`)}' },
  {
    file: INTERPRETER_FILE,
    from: 'lt(e,A,{kind:"input",content:`${v}\n`})',
    to: 'lt(e,A,{kind:"input",content:Tt(`${v}\n`)})',
  },
  {
    file: INTERPRETER_FILE,
    from: 'try{let s=await e.fs.readFile(r);return n?',
    to: 'try{let s=n?await e.fs.readFile(r):await vn(e.fs,r);return n?',
  },
  {
    file: INTERPRETER_FILE,
    from: 'c=N.content,u=bn(',
    to: 'c=C.entry.kind==="readwrite"?Tt(N.content):N.content,u=bn(',
  },
  // `>&2` and `2>&1` put bytes into text, and text into bytes.
  {
    file: INTERPRETER_FILE,
    from: 'case"live-stdout":l+=A;break;case"live-stderr":c+=A;break;',
    to: 'case"live-stdout":l+=N||d!=="binary"?A:Tt(A);break;case"live-stderr":c+=N&&d==="binary"?Vf(A):A;break;',
  },
  {
    file: INTERPRETER_FILE,
    from: '{let A=S+v;A!==""&&',
    to: `{let $e=d==="binary"?Tt(v):v,A=${PRINTS_FIRST}&&!(t.errorsFirst||n.errorsFirst)?S+$e:$e+S;A!==""&&`,
  },
  // Redirected bytes were counted as text, so a command that also wrote to stderr failed for output that it never
  // wrote.
  {
    file: INTERPRETER_FILE,
    from: 'v=B(g.stdout),k=B(g.stderr),A=Math.min(v,S)',
    to: 'v=d==="binary"?g.stdout.length:B(g.stdout),k=B(g.stderr),A=Math.min(v,S)',
  },
  // Byte escapes in `$\'…\'`, printf, echo and awk became characters.
  {
    file: INTERPRETER_FILE,
    from: 'function bd(e){',
    to: 'function bd(e){return $bytes.textOfBytes(Uint8Array.from(e));',
  },
  {
    file: INTERPRETER_FILE,
    from: 'let c=parseInt(a,8);r+=String.fromCharCode(c),s=l;break}',
    to: 'r+=$bytes.textOfByte(parseInt(a,8)),s=l;break}',
  },
  {
    file: INTERPRETER_FILE,
    from: 's<t.length&&t[s]==="\'"&&s++,{part:M.literal(r),endIndex:s}',
    to: 's<t.length&&t[s]==="\'"&&s++,{part:M.literal($bytes.redecode(r)),endIndex:s}',
  },
  { file: ESCAPES, from: 'n+=String.fromCharCode(parseInt(l,8)),e=i;', to: 'n+=$bytes.textOfByte(parseInt(l,8)),e=i;' },
  {
    file: ESCAPES,
    from: 'try{let o=new TextDecoder("utf-8",{fatal:!0});n+=o.decode(new Uint8Array(l))}catch{for(let o of l)n+=String.fromCharCode(o)}',
    to: 'n+=$bytes.textOfBytes(Uint8Array.from(l));',
  },
  {
    file: ESCAPES,
    from: 'default:n+=t[e],e++}else n+=t[e],e++;return n}',
    to: 'default:n+=t[e],e++}else n+=t[e],e++;return $bytes.redecode(n)}',
  },
  { file: PRINTF_FILE, from: 'function X(e){', to: 'function X(e){return $bytes.textOfBytes(Uint8Array.from(e));' },
  {
    file: PRINTF_FILE,
    from: 'let a=new TextEncoder().encode(n)[0];return{value:String.fromCharCode(a)',
    to: 'let a=$bytes.bytesOfText(n)[0];return{value:$bytes.textOfByte(a)',
  },
  {
    file: PRINTF_FILE,
    from: 'i?n+=String.fromCharCode(parseInt(i,8)):n+="\\0",r=t;break}',
    to: 'i?n+=$bytes.textOfByte(parseInt(i,8)):n+="\\0",r=t;break}',
  },
  {
    file: PRINTF_FILE,
    from: 'n+=String.fromCharCode(parseInt(i,8)),r=t;break}',
    to: 'n+=$bytes.textOfByte(parseInt(i,8)),r=t;break}',
  },
  { file: PRINTF_FILE, from: 'return{value:n,stopped:!1}}', to: 'return{value:$bytes.redecode(n),stopped:!1}}' },
  { file: ECHO, from: 'let l=parseInt(a,8)%256;s+=String.fromCharCode(l)', to: 's+=$bytes.textOfByte(parseInt(a,8))' },
  {
    file: ECHO,
    from: 'let l=parseInt(a,16);s+=String.fromCharCode(l),e=t',
    to: 's+=$bytes.textOfByte(parseInt(a,16)),e=t',
  },
  { file: ECHO, from: 'return{output:s,stop:!1}}', to: 'return{output:$bytes.redecode(s),stop:!1}}' },
  {
    file: AWK_FILE,
    from: 'a.length>0?r+=String.fromCharCode(parseInt(a,16)):r+="x";break}default:if(/[0-7]/.test(s)){let a=s;for(;a.length<3&&/[0-7]/.test(this.peek());)a+=this.advance();r+=String.fromCharCode(parseInt(a,8))}',
    to: 'a.length>0?r+=$bytes.textOfByte(parseInt(a,16)):r+="x";break}default:if(/[0-7]/.test(s)){let a=s;for(;a.length<3&&/[0-7]/.test(this.peek());)a+=this.advance();r+=$bytes.textOfByte(parseInt(a,8))}',
  },
  // tar wrote replacement characters for bytes that are not UTF-8, in names and with -O.
  {
    file: TAR_FILE,
    from: 'V=new Uint8Array(0),I=new TextEncoder,Q=new TextDecoder;',
    to: 'V=new Uint8Array(0),I=new TextEncoder,Q={decode:$bytes.textOfBytes};',
  },
];

/** Work at load time for which a worker has no use. Together they are a third of the processor time of its start. */
const LOADING_PATCHES: readonly BashPatch[] = [
  // Makes Node load its HTTP client, which only curl would use.
  { file: 'chunks/chunk-KIGPB52X.js', from: 'a=globalThis.Headers,', to: 'a=void 0,' },
  // Loads the thread module, to find that this is no thread.
  {
    file: INTERPRETER_FILE,
    from: 'typeof e=="function"&&e("worker_threads")?.isMainThread===!1&&e("crypto")?.randomUUID?.()',
    to: '0',
  },
  // Loads Web Crypto, for ids of executions that only messages name.
  {
    file: 'chunks/chunk-ZBUZKIPX.js',
    from: 'return typeof crypto<"u"&&crypto.randomUUID?crypto.randomUUID():"xxxx',
    to: 'return"xxxx',
  },
  // The first comparison by language loads its tables. The names are plain English words.
  {
    file: INTERPRETER_FILE,
    from: '(r,s)=>r.name.localeCompare(s.name)',
    to: '(r,s)=>r.name<s.name?-1:1',
  },
];

/**
 * V8 puts a function literal that is written into a property, and every getter that is not of a class, into the old
 * generation at once, so that all that it refers to outlives the call until the next full collection. What a call
 * returns is young; a getter is that of a prototype.
 */
const YOUNG_FUNCTION_PATCHES: readonly BashPatch[] = [
  {
    file: INTERPRETER_FILE,
    from: ',readsFile:$isFile,pipe:i.state.pipe,fs:i.fs,',
    to: ',readsFile:$isFile,pipe:i.state.pipe,__proto__:$context.COMMAND_CONTEXT,fs:i.fs,',
  },
  // Read by no command that is not just-bash's own.
  {
    file: INTERPRETER_FILE,
    from: 'remainingLiveBytes:{enumerable:!0,get:()=>e.remainingLiveBytes}',
    to: 'remainingLiveBytes:{enumerable:!0,value:e.remainingLiveBytes}',
  },
  { file: INTERPRETER_FILE, from: 'get stdin(){return p=!0,d},', to: '$stdin:()=>(p=!0,d),' },
  {
    file: INTERPRETER_FILE,
    from: 'g.get=()=>(i(),o(Reflect.apply(y,f,[])))',
    to: 'g.get=$context.young(()=>(i(),o(Reflect.apply(y,f,[]))))',
  },
  {
    file: INTERPRETER_FILE,
    from: 'g.set=S=>{i(),Reflect.apply(y,f,[S])}',
    to: 'g.set=$context.young(S=>{i(),Reflect.apply(y,f,[S])})',
  },
  {
    file: INTERPRETER_FILE,
    from: 'm.origCommand=N=>{let P=()=>w.execute(N,C);return w.trusted?Ce.runTrustedAsync(P):Ce.runUntrustedAsync(P)}',
    to: 'm.origCommand=$context.young(N=>{let P=()=>w.execute(N,C);return w.trusted?Ce.runTrustedAsync(P):Ce.runUntrustedAsync(P)})',
  },
];

/** In the order in which they are applied: a later one may change what an earlier one wrote. */
export const ALL_PATCHES: readonly BashPatch[] = [
  ...BYTE_PATCHES,
  ...TRUNCATION_PATCHES,
  ...SCRIPT_PATCHES,
  ...SHELLS_PATCHES,
  ...PIPE_PATCHES,
  ...WORD_PATCHES,
  ...REDIRECTION_PATCHES,
  ...INPUT_PATCHES,
  ...ARITHMETIC_PATCHES,
  ...COMMAND_PATCHES,
  ...MESSAGE_PATCHES,
  ...TRACE_PATCHES,
  ...LANGUAGE_PATCHES,
  ...AWK_PATCHES,
  ...AWK_VALUE_PATCHES,
  ...AWK_LANGUAGE_PATCHES,
  ...AWK_FUNCTION_PATCHES,
  ...LOADING_PATCHES,
  ...YOUNG_FUNCTION_PATCHES,
];

/** A source with one change. Throws when its place is not there, or is there twice. */
export function patched(source: string, { file, from, to }: BashPatch): string {
  const at = source.indexOf(from);
  if (at < 0 || source.includes(from, at + 1))
    throw new Error(`just-bash's ${file} is not the one that is to be changed at ${from}`);
  return source.slice(0, at) + to + source.slice(at + from.length);
}

/**
 * The patched source of a just-bash file; null for a file without patches. Throws when the installed version differs
 * from the one that the patches were written for.
 */
export function patchedSource(file: string, read: () => string): string | null {
  const changes = ALL_PATCHES.filter((change) => change.file === file);
  if (changes.length === 0) return null;
  const source = changes.reduce(patched, read());
  const modules: Readonly<Record<string, string>> = {
    [INTERPRETER_FILE]: `import*as $arrays from${JSON.stringify(MAPFILE_OPTIONS)};import*as $shell from${JSON.stringify(SHELL_ARGUMENTS)};import*as $traps from${JSON.stringify(TRAPS)};import*as $umask from${JSON.stringify(UMASK)};import*as $uses from${JSON.stringify(USES)};import*as $pipes from${JSON.stringify(PIPES)};import*as $outlets from${JSON.stringify(OUTLETS)};import*as $tees from${JSON.stringify(TEES)};import*as $live from${JSON.stringify(LIVE_FILES)};import*as $turns from${JSON.stringify(TURNS)};import*as $globs from${JSON.stringify(GLOBS)};import*as $keys from${JSON.stringify(HASH_ORDER)};import*as $inputs from${JSON.stringify(ENDLESS_INPUTS)};import*as $arithmetics from${JSON.stringify(ARITHMETIC_ERRORS)};import*as $lines from${JSON.stringify(ERROR_LINES)};import*as $posix from${JSON.stringify(POSIX_ERRORS)};import*as $select from${JSON.stringify(SELECT_LOOPS)};import*as $frames from${JSON.stringify(CALL_FRAMES)};import*as $time from${JSON.stringify(TIME_FORMAT)};import*as $context from${JSON.stringify(COMMAND_CONTEXT)};`,
    [PRINTF_FILE]: `import*as $uses from${JSON.stringify(USES)};`,
    [SHELLS_FILE]: `import*as $shell from${JSON.stringify(SHELL_ARGUMENTS)};`,
    [AWK_FILE]: `import*as $awk from${JSON.stringify(AWK_TEXT)};import*as $commands from${JSON.stringify(AWK_COMMANDS)};import*as $loose from${JSON.stringify(AWK_VALUES)};import*as $language from${JSON.stringify(AWK_LANGUAGE)};import*as $functions from${JSON.stringify(AWK_FUNCTIONS)};`,
    [TAR_FILE]: `import*as $tar from${JSON.stringify(TAR_MEMBERS)};import*as $posix from${JSON.stringify(POSIX_ERRORS)};`,
  };
  return `${modules[file] ?? ''}import*as $bytes from${JSON.stringify(BYTE_TEXT)};import*as $exact from${JSON.stringify(EXACT_INTEGERS)};${source}`;
}
