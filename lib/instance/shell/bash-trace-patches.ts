// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of what is changed.
/**
 * Patches of what `set -x` writes: how words are quoted, and how deep a command stands. bash-patches.ts applies them;
 * `$lines` is error-lines.ts.
 */
import { type BashPatch, INTERPRETER_FILE } from './bash-patch.ts';

const change = (from: string, to: string): BashPatch => ({ file: INTERPRETER_FILE, from, to });

export const TRACE_PATCHES: readonly BashPatch[] = [
  change(
    'function lm(e){if(e==="")return"\'\'";if(',
    'function lm(e){if(e==="")return"\'\'";if(!/[\\x00-\\x08\\x0b-\\x1f\\x7f]/.test(e))return/[\\s\'"\\\\$`!*?[\\]{}|&;<>()#~^]/.test(e)?`\'${e.replaceAll("\'","\'\\\\\'\'")}\'`:e;if(',
  ),
  // `+=` was written as the whole value, and no value was quoted.
  change(
    'return e.state.options.xtrace?`${await Ju(e)}${t}=${n}\n`:""}',
    'return e.state.options.xtrace?`${await Ju(e)}${t}=${n===""?"":lm(n)}\n`:""}',
  ),
  change('c=jn(e,a,c),o+=await tf(e,a,c);', 'c=jn(e,a,c),o+=await tf(e,s?`${a}+`:a,s?r:c);'),
  // What `$(…)`, `eval` and `.` run stands deeper: `++ command`.
  change(
    'async function ef(e,t,n){if(!e.state.options.xtrace)return"";let r=await Ju(e),',
    'async function ef(e,t,n){if(!e.state.options.xtrace)return"";if($lines.isOwnFile(e.state,t,n))return e.state.traceDepth=-1,"";let r=await Ju(e),',
  ),
  change(
    'if(t===void 0)return Yu;if(t==="")return"";',
    'if(t===void 0)return $lines.deepened(e.state,Yu);if(t==="")return"";',
  ),
  change(
    'parseWordFromString(t,!1,!1);return await se(e,s)}catch(r){if(r instanceof ce&&!r.fatal)return t;',
    'parseWordFromString(t,!1,!1);return $lines.deepened(e.state,await se(e,s))}catch(r){if(r instanceof ce&&!r.fatal)return t;',
  ),
  change(
    'if(t==="eval")return Is(c,n,s,l);',
    'if(t==="eval"){c.state.traceDepth=(c.state.traceDepth??0)+1;try{return await Is(c,n,s,l)}finally{c.state.traceDepth--}}',
  ),
  change(
    'if(t==="source"||t===".")return Xo(c,n);',
    'if(t==="source"||t==="."){c.state.traceDepth=(c.state.traceDepth??0)+1;try{return await Xo(c,n)}finally{c.state.traceDepth--}}',
  ),
];
