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
  // `((…))`, `[[…]]`, `case`, `for` and assignments of arrays were not shown. What a loop or `case` shows waits for the
  // next command that is shown, since what is inside it is sent before it ends.
  change(
    'async function Ju(e){let t=e.state.env.get("PS4");',
    'async function $traced(e,$text){return e.state.options.xtrace?`${await Ju(e)}${$text}\n`:""}async function $condition(e,...$words){e.state.options.xtrace&&await $show(e,`[[ ${e.state.conditionNegated?"! ":""}${$words.join(" ")} ]]`)}async function $show(e,$text){let $line=await $traced(e,$text);e.state.inCondition?e.state.pendingTrace=$line:e.state.expansionStderr=(e.state.expansionStderr||"")+$line}async function Ju(e){let $before=e.state.pendingTrace??"";e.state.pendingTrace="";return $before+await $prompt(e)}async function $prompt(e){let t=e.state.env.get("PS4");',
  ),
  change(
    'async executeStatement(t){',
    'async executeStatement(t){if(!this.ctx.state.options.xtrace)return this.$statement(t);let $result=await this.$statement(t),{state:$state}=this.ctx;if(!$state.pendingTrace||$state.inCondition)return $result;let $waiting=$state.pendingTrace;$state.pendingTrace="";return{...$result,stderr:$result.stderr+$waiting}}async $statement(t){',
  ),
  change(
    'let a=this.parseArithmeticExpression(n.trim()),l=this.parseOptionalRedirections();return M.arithmeticCommand(a,l,this.getSourceLine(t))}',
    'let $end=this.tokens[this.pos-1],$text=$end.type===E.DPAREN_END&&$end.start>=t.end?this._input.slice(t.end,$end.start):n,a=this.parseArithmeticExpression(n.trim()),l=this.parseOptionalRedirections();return Object.assign(M.arithmeticCommand(a,l,this.getSourceLine(t)),{text:$text})}',
  ),
  change(
    '"",async()=>{try{let n=await Y(this.ctx,t.expression.expression)',
    '"",async()=>{if(this.ctx.state.options.xtrace)await $show(this.ctx,`(( ${t.text} ))`);try{let n=await Y(this.ctx,t.expression.expression)',
  ),
  change(
    's=await Hc(e,t.right):s=await se(e,t.right);if(hr(',
    's=await Hc(e,t.right):s=await se(e,t.right);if(e.state.options.xtrace)await $condition(e,n||"\'\'",t.operator,r&&hr(t.operator)?s.replace(/[^]/g,"\\\\$&"):s||"\'\'");if(hr(',
  ),
  change(
    'case"CondUnary":{let n=await se(e,t.operand);',
    'case"CondUnary":{let n=await se(e,t.operand);if(e.state.options.xtrace)await $condition(e,t.operator,n||"\'\'");',
  ),
  change(
    ':!await Yt(e,t.operand);case"CondAnd":',
    ':!await(async()=>{let $negated=e.state.conditionNegated;e.state.conditionNegated=t.operand.type!=="CondGroup";try{return await Yt(e,t.operand)}finally{e.state.conditionNegated=$negated}})();case"CondAnd":',
  ),
  change(
    'async function xm(e,t){let n=new on(e),r=0,',
    'async function xm(e,t){if(e.state.options.xtrace)e.state.pendingTrace=await $traced(e,`case ${we(t.word)} in`);let n=new on(e),r=0,',
  ),
  change(
    'e.state.env.set(t.variable,o);try{',
    'e.state.env.set(t.variable,o);if(e.state.options.xtrace)e.state.pendingTrace=await $traced(e,`for ${t.variable} in ${t.words===null?\'"$@"\':t.words.map(we).join(" ")}`);try{',
  ),
  change(
    't.init&&await Y(e,t.init.expression),e.state.loopDepth++;',
    't.init&&(e.state.pendingTrace=await $traced(e,`(( ${t.init.originalText} ))`),await Y(e,t.init.expression));e.state.loopDepth++;',
  ),
  change(
    'e.state.currentLine=n),await Y(e,t.condition.expression)===0));){',
    'e.state.currentLine=n),e.state.pendingTrace=await $traced(e,`(( ${t.condition.originalText} ))`),await Y(e,t.condition.expression)===0));){',
  ),
  change(
    'throw a.error}t.update&&await Y(e,t.update.expression)}}finally{e.state.loopDepth--}return r.build(s)}',
    'throw a.error}t.update&&(e.state.pendingTrace=await $traced(e,`(( ${t.update.originalText} ))`),await Y(e,t.update.expression))}}finally{e.state.loopDepth--}return r.build(s)}',
  ),
  change(
    'a&&d?await fm(e,t,n,r,s,p,h=>{o+=h})',
    't.name||(o+=await $traced(e,`${n}${s?"+=":"="}(${r.map(we).join(" ")})`));a&&d?await fm(e,t,n,r,s,p,h=>{o+=h})',
  ),
  change(
    't.name||Z(e,a,c,u,l?"associative":"indexed"),{continueToNext:!0,xtraceOutput:""}}',
    't.name||Z(e,a,c,u,l?"associative":"indexed"),{continueToNext:!0,xtraceOutput:t.name?"":await $traced(e,`${n}[${r}]${i?"+=":"="}${s===""?"":lm(s)}`)}}',
  ),
  change(
    'let u=await hm(e,t,l[1],l[2],o,s.append,n);if(u.error)return{continueToNext:!1,xtraceOutput:r,tempAssignments:n,error:u.error};',
    'let u=await hm(e,t,l[1],l[2],o,s.append,n);if(u.error)return{continueToNext:!1,xtraceOutput:r,tempAssignments:n,error:u.error};r+=u.xtraceOutput;',
  ),
  // `return`, `exit`, `break` and `continue` left without their trace.
  change('k=P,v=ne;else throw P}', 'k=P,v=ne;else throw o+S&&P?.prependOutput?.("",o+S),P}'),
  change('w.finish(),k)throw k;', 'w.finish(),k)throw o+S&&k.prependOutput?.("",o+S),k;'),
  // `$BASH_COMMAND` was never set, which ended a script with `set -u` in its own ERR action.
  change(
    'async executeSimpleCommandInner(t,n,r){',
    'async executeSimpleCommandInner(t,n,r){this.ctx.state.inAction||(this.ctx.state.currentCommand=t);',
  ),
  change(
    'case"BASHPID":return String(e.state.bashPid);',
    'case"BASHPID":return String(e.state.bashPid);case"BASH_COMMAND":return e.state.currentCommand?zd(e.state.currentCommand):"";',
  ),
  change('"BASHPID","LINENO"]).has(t))return!0;', '"BASHPID","LINENO","BASH_COMMAND"]).has(t))return!0;'),
];
