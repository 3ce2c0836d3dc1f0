// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of the shell, and of what is changed.
/**
 * Patches of just-bash against silent truncation. Some of its commands stop at a built-in number and return a partial
 * answer as success. With these patches they continue, or fail with an error. bash-patches.ts applies them. Why:
 * decision 039.
 */
import { AWK_FILE, type BashPatch, INTERPRETER_FILE } from './bash-patch.ts';

const GREP = 'chunks/chunk-XMMV24SP.js';
const LS = 'chunks/chunk-INDA53JL.js';
const SED = 'chunks/chunk-CFBEDNHJ.js';
const JQ = 'chunks/chunk-6KK46B7Q.js';

export const TRUNCATION_PATCHES: readonly BashPatch[] = [
  // `{1..20000}` gave 10 000 words. The bound is now maxBraceExpansionResults, per word and not per script.
  { file: INTERPRETER_FILE, from: 'var dr=1e4,Mi={maxResults:dr,', to: 'var dr=1/0,Mi={maxResults:1e4,' },
  {
    file: INTERPRETER_FILE,
    from: 'if(e.length>=n.maxResults)return!1;let s=B(t);',
    to: 'if(e.length>=n.maxResults)throw new x(`brace expansion result limit exceeded (${n.maxResults})`,"array_elements");let s=B(t);',
  },
  {
    file: INTERPRETER_FILE,
    from: '"brace_operations",1,Math.min(qc,e.limits.maxBraceExpansionResults),',
    to: '"brace_operations",1,Number.MAX_SAFE_INTEGER,',
  },
  {
    file: INTERPRETER_FILE,
    from: 'e.limits.maxBraceExpansionResults||n.count>qc)',
    to: 'e.limits.maxBraceExpansionResults)',
  },
  // A script of more than 10 000 commands did not parse.
  { file: INTERPRETER_FILE, from: 'r++,r>1e4&&this.error(', to: 'r++,r>1e8&&this.error(' },
  // `grep -r` stopped at a depth of 256 directories. A path of 1 024 bytes has at most 512.
  { file: GREP, from: 'ge=256;async function ye(', to: 'ge=1024;async function ye(' },
  // sed's `D` stopped after 10 000 rounds.
  {
    file: SED,
    from: 'Y=0,fe=1e4;g.linesConsumedInCycle=0;do{if(Y++,Y>fe)break;',
    to: 'Y=0,fe=1e8;g.linesConsumedInCycle=0;do{if(Y++,Y>fe)throw new x(`sed: D was run too often (${fe} times)`,"iterations");',
  },
  // jq returned null for values nested beyond its depth limit.
  {
    file: JQ,
    from: 'B(s,o+1)>o)return[null]}return[s]}case"Foreach"',
    to: 'B(s,o+1)>o)throw F(`query depth limit exceeded (${o})`,"recursion")}return[s]}case"Foreach"',
  },
  {
    file: JQ,
    from: 'case"tojson":case"tojsonstream":{let o=r.limits.maxDepth??Ae;return B(e,o+1)>o?[null]:[JSON.stringify(e)]}',
    to: 'case"tojson":case"tojsonstream":{let o=r.limits.maxDepth??Ae;if(B(e,o+1)>o)throw F(`query depth limit exceeded (${o})`,"recursion");return[JSON.stringify(e)]}',
  },
  {
    file: JQ,
    from: 'case"@json":{let r=t??ze;return B(e,r+1)>r?[null]:[JSON.stringify(e)]}',
    to: 'case"@json":{let r=t??ze;if(B(e,r+1)>r)throw F(`query depth limit exceeded (${r})`,"recursion");return[JSON.stringify(e)]}',
  },
  // `ls a b` printed an empty line between two files, so `ls *.txt | wc -l` counted almost twice as many.
  {
    file: LS,
    from: 'if(P>0&&o&&!o.endsWith(`\n\n`)&&(o=g(t,o,`\n`)),H){',
    to: 'let $folder=async p=>(await t.fs.stat(t.fs.resolvePath(t.cwd,p)).catch(()=>null))?.isDirectory;if(P>0&&o&&!o.endsWith(`\n\n`)&&!H&&(await $folder($)||await $folder(h[P-1]))&&(o=g(t,o,`\n`)),H){',
  },
  // awk's `length(array)` returned the length of an empty string.
  {
    file: AWK_FILE,
    from: 'async function Je(e,t,n){return e.length===0?',
    to: 'async function Je(e,t,n){let $array=e[0]?.type==="variable"?t.arrays[Y(t,e[0].name)]:void 0;if($array)return Object.keys($array).length;return e.length===0?',
  },
];
