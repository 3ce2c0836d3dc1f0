// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of the shell.
/**
 * Patches of just-bash's numbers: integers have 64 bits and go round, as in bash, where the original has 32 bits for
 * some operators and rounds beyond 2^53. bash-patches.ts applies them; `$exact` is exact-integers.ts, `$arithmetics`
 * arithmetic-errors.ts.
 */
import { type BashPatch, INTERPRETER_FILE, PRINTF_FILE } from './bash-patch.ts';

const EXPRESSION_PATCHES: readonly BashPatch[] = [
  // `1++`, `1?2` and `x=` were numbers, `1$` was read for ever, and what is refused has bash's words.
  {
    file: INTERPRETER_FILE,
    from: 'function re(e,t){let n=md(t)',
    to: 'function re(e,t){let $problem=$arithmetics.arithmeticProblem(t);if($problem!==null)return{type:"ArithmeticExpression",originalText:t,expression:{type:"ArithSyntaxError",errorToken:$problem.token,message:$problem.message}};let n=md(t)',
  },
  {
    file: INTERPRETER_FILE,
    from: 'function Yp(e,t,n){switch(n){',
    to: 'function Yp(e,t,n){return $exact.binary(e,t,n,ce)}function $arithmetic(e,t,n){switch(n){',
  },
  {
    file: INTERPRETER_FILE,
    from: 'function Jc(e,t,n){switch(n){',
    to: 'function Jc(e,t,n){return n==="="?t:$exact.binary(e,t,n.slice(0,-1),ce)}function $assigned(e,t,n){switch(n){',
  },
  {
    file: INTERPRETER_FILE,
    from: 'function Jp(e,t){switch(t){',
    to: 'function Jp(e,t){return $exact.unary(e,t)}function $sign(e,t){switch(t){',
  },
  // A literal beyond 2^53 was 2^53 - 1.
  {
    file: INTERPRETER_FILE,
    from: 'function or(e){if(e.includes("#")){',
    to: 'function or(e){let $wide=$exact.wideLiteral(e);if($wide!==void 0)return $wide;if(e.includes("#")){',
  },
  // `x=010; $((x))` was 10, and `x=09` was 9.
  {
    file: INTERPRETER_FILE,
    from: 'let o=(await ie(e,t.name)).trim();if(!o)return 0;let a=Number.parseInt(o,10);if(!Number.isNaN(a)&&/^-?\\d+$/.test(o))return a;',
    to: 'let o=(await ie(e,t.name)).trim();if(!o)return 0;if($exact.isPlain(o))return $exact.integer(o);',
  },
  {
    file: INTERPRETER_FILE,
    from: 'let r=Number.parseInt(t,10);if(!Number.isNaN(r)&&/^-?\\d+$/.test(t.trim()))return r;let s=t.trim();',
    to: 'if($exact.isPlain(t))return $exact.integer(t);let $problem=$arithmetics.arithmeticProblem(t);if($problem!==null)throw new ce($problem.message);let s=t.trim();',
  },
  {
    file: INTERPRETER_FILE,
    from: 'let s=Number.parseInt(r,10);if(!Number.isNaN(s)&&/^-?\\d+$/.test(r.trim()))return s;let i=r.trim();',
    to: 'if($exact.isPlain(r))return $exact.integer(r);let $problem=$arithmetics.arithmeticProblem(r);if($problem!==null)throw new ce($problem.message);let i=r.trim();',
  },
  {
    file: INTERPRETER_FILE,
    from: 'let o=t.operand.name,a=Number.parseInt(await ie(e,o),10)||0,l=t.operator==="++"?a+1:a-1;',
    to: 'let o=t.operand.name,a=i,l=$exact.binary(a,1,t.operator[0],ce);',
  },
  {
    file: INTERPRETER_FILE,
    from: 'c=Number.parseInt(le(e,o,l)||"0",10)||0,u=t.operator==="++"?c+1:c-1;',
    to: 'c=$exact.integer(le(e,o,l)||"0"),u=$exact.binary(c,1,t.operator[0],ce);',
  },
  {
    file: INTERPRETER_FILE,
    from: 'c=Number.parseInt(l||"0",10)||0,u=await s(t.value),f=Jc(c,u,t.operator);',
    to: 'c=t.operator==="="?0:await cs(e,`${i}[${a}]`,l??"",r),u=await s(t.value),f=Jc(c,u,t.operator);',
  },
  {
    file: INTERPRETER_FILE,
    from: 'await Hi(e,i,r):Number.parseInt(i,10)||0}case"Arit',
    to: 'await Hi(e,i,r):await th(e,i,r)}case"Arit',
  },
  {
    file: INTERPRETER_FILE,
    from: 'let s=await Y(e,r.offset.expression),i=r.length?await Y(e,r.length.expression):void 0',
    to: 'let s=Number(await Y(e,r.offset.expression)),i=r.length?Number(await Y(e,r.length.expression)):void 0',
  },
  {
    file: INTERPRETER_FILE,
    from: 'let i=s.offset?await Y(e,s.offset.expression):0,o=s.length?await Y(e,s.length.expression):void 0',
    to: 'let i=s.offset?Number(await Y(e,s.offset.expression)):0,o=s.length?Number(await Y(e,s.length.expression)):void 0',
  },
  // `$((1.5))` ended the script before its first command.
  {
    file: INTERPRETER_FILE,
    from: 'if(t[s]==="."&&/[0-9]/.test(t[s+1]))throw new ce(`${c}.${t[s+1]}...: syntax error: invalid arithmetic operator`);',
    to: 'if(t[s]==="."){let $rest=t.slice(s).trim();return{expr:{type:"ArithSyntaxError",errorToken:$rest,message:`${t.trim()}: syntax error: invalid arithmetic operator (error token is "${$rest}")`},pos:t.length}}',
  },
];

/** An expression that bash refuses was 0 where its value is a number's: in `[[ … -eq … ]]`, `declare -i` and `n=…`. */
const REFUSED_PATCHES: readonly BashPatch[] = [
  {
    file: INTERPRETER_FILE,
    from: 'async function ou(e,t){if(t=t.trim(),t==="")return 0;',
    to: 'async function ou(e,t){if(t=t.trim(),t==="")return 0;let $problem=$arithmetics.arithmeticProblem(t);if($problem!==null)throw new ce($problem.message);',
  },
  {
    file: INTERPRETER_FILE,
    from: 's=await Y(e,r.expression);return String(s)}catch{return"0"}}',
    to: 's=await Y(e,r.expression);return String(s)}catch($error){if($error instanceof ce)throw $error;return"0"}}',
  },
  {
    file: INTERPRETER_FILE,
    from: 'c=String(await Y(e,d.expression))}}catch{c="0"}',
    to: 'c=String(await Y(e,d.expression))}}catch($error){if($error instanceof ce)throw $error;c="0"}',
  },
  // What is found only when it is computed, as a division by 0, was said without the expression.
  {
    file: INTERPRETER_FILE,
    from: 'l=re(a,o);return String(await Y(e,l.expression,!0))}return String(await Y(e,t.expression.expression,!0))}',
    to: 'l=re(a,o);return String(await Y(e,l.expression,!0).catch($error=>{throw $arithmetics.withSource($error,o)}))}return String(await Y(e,t.expression.expression,!0).catch($error=>{throw $arithmetics.withSource($error,s)}))}',
  },
];

const TEST_PATCHES: readonly BashPatch[] = [
  // `[ "" -eq 0 ]` was true, and `[ a = ]` false with 1.
  {
    file: INTERPRETER_FILE,
    from: 'function Ss(e){if(e=e.trim(),e==="")return{value:0,valid:!0};let t=!1;',
    to: 'function Ss(e){let $text=e.trim();return/^[-+]?\\d+$/.test($text)?{value:$exact.integer($text),valid:!0}:{value:0,valid:!1};let t=!1;',
  },
  {
    file: INTERPRETER_FILE,
    from: 'function au(e){if(e=e.trim(),e==="")return 0;',
    to: 'function au(e){if($exact.isPlain(e))return $exact.integer(e);if(e=e.trim(),e==="")return 0;',
  },
  {
    file: INTERPRETER_FILE,
    from: 'r==="-ef"?D(`test: ${r}: unary operator expected\n`,2):L("","",1)',
    to: 'r==="-ef"||!0?D(`test: ${r}: unary operator expected\n`,2):L("","",1)',
  },
];

const VARIABLE_PATCHES: readonly BashPatch[] = [
  // `$EPOCHSECONDS`, `$SHELL` and others were empty.
  {
    file: INTERPRETER_FILE,
    from: 'case"RANDOM":return String(Math.floor(Math.random()*32768));',
    to: 'case"EPOCHSECONDS":return $uses.refuses("clock")?"":String(Math.floor(Date.now()/1e3));case"EPOCHREALTIME":return $uses.refuses("clock")?"":(Date.now()/1e3).toFixed(6);case"SHELL":case"BASH":return e.state.env.get(t)??"/bin/bash";case"SHLVL":return e.state.env.get(t)??"1";case"RANDOM":return $uses.refuses("random")?"":String(Math.floor(Math.random()*32768));',
  },
  // Components use no clock that they do not declare.
  {
    file: INTERPRETER_FILE,
    from: 'case"SECONDS":return String(Math.floor(',
    to: 'case"SECONDS":return $uses.refuses("clock")?"":String(Math.floor(',
  },
  {
    file: PRINTF_FILE,
    from: 'A==="-2"?M=Math.floor(Date.now()/1e3):',
    to: 'A==="-2"?M=$uses.refuses("clock")?0:Math.floor(Date.now()/1e3):',
  },
  {
    file: INTERPRETER_FILE,
    from: '"PPID","UID","EUID","RANDOM","SECONDS"',
    to: '"EPOCHSECONDS","EPOCHREALTIME","SHELL","BASH","SHLVL","PPID","UID","EUID","RANDOM","SECONDS"',
  },
  // In a folder that was removed or renamed `cd ..` failed for good.
  {
    file: INTERPRETER_FILE,
    from: 'let l=(n.startsWith("/")?n:`${e.state.cwd}/${n}`).split("/")',
    to: 'let l=(n.startsWith("/")?n:await e.fs.exists(e.state.cwd)?`${e.state.cwd}/${n}`:e.fs.resolvePath(e.state.cwd,n)).split("/")',
  },
  // `.` matched no newline in `[[ … =~ … ]]`.
  { file: INTERPRETER_FILE, from: 'l=ge(o,i?"i":"").match(n)', to: 'l=ge(o,i?"is":"s").match(n)' },
];

const PRINTF_PATCHES: readonly BashPatch[] = [
  // `printf %d 08` was 8.
  {
    file: PRINTF_FILE,
    from: 'if(e.startsWith("0")&&e.length>1&&/^-?0[0-7]+$/.test(e))',
    to: 'if(/^0[0-7]*[89]/.test(e))return h=!0,parseInt(e,8)||0;if(e.startsWith("0")&&e.length>1&&/^-?0[0-7]+$/.test(e))',
  },
  {
    file: PRINTF_FILE,
    from: 'let r=parseInt(e,16);return Number.isNaN(r)?(h=!0,0):(n&&(h=!0),r)}',
    to: 'let r=parseInt(e,16);return Number.isNaN(r)?(h=!0,0):(n&&(h=!0),/^0[xX][0-9a-fA-F]+$/.test(e)?$exact.bounded(e):r)}',
  },
  {
    file: PRINTF_FILE,
    from: 'return n&&(h=!0),parseInt(e,10)||0}function P(e,l){',
    to: 'return n&&(h=!0),e===""?0:$exact.bounded(e)}function P(e,l){',
  },
  {
    file: PRINTF_FILE,
    from: 't=l<0,s=Math.abs(l),a=String(s);',
    to: 't=l<0,s=t?-l:l,a=String(s);',
  },
  { file: PRINTF_FILE, from: 'let s=t<0?t>>>0:t;return', to: 'let s=$exact.unsigned(n,t);return' },
  { file: PRINTF_FILE, from: 't=Math.abs(l).toString(8);', to: 't=$exact.unsigned("",l).toString(8);' },
  { file: PRINTF_FILE, from: 's=Math.abs(l).toString(16);', to: 's=$exact.unsigned("",l).toString(16);' },
  // `%` at the end was printed, and an unknown letter named the library.
  {
    file: PRINTF_FILE,
    from: 'for(;t<e.length;)if(e[t]==="%"&&t+1<e.length){',
    to: 'for(;t<e.length;)if(e[t]==="%"&&t+1===e.length)return{result:i,argsConsumed:s,error:!0,errMsg:"printf: `%\': missing format character\\n",stopped:!0};else if(e[t]==="%"){',
  },
  {
    file: PRINTF_FILE,
    from: 'parseErrMsg:`printf: [sprintf] unexpected placeholder\n`}',
    to: 'parseErrMsg:`printf: \\`${e}\': ${l===""?"missing":"invalid"} format character\n`,stopped:!0}',
  },
  // `%q` wrote letters beyond ASCII as escapes of other bytes.
  {
    file: PRINTF_FILE,
    from: 'let n=/[\\x00-\\x1f\\x7f-\\xff]/.test(e),r=n?3:0;',
    to: 'let n=/[\\x00-\\x1f\\x7f]/.test(e),r=n?3:0;',
  },
  { file: PRINTF_FILE, from: ':s<32||s>=127&&s<=255?i+=', to: ':s<32||s===127?i+=' },
  {
    file: PRINTF_FILE,
    from: 'return i+="\'",i}let o="";',
    to: 'return i+="\'",i}return e.replace(/[ |&;<>()$`\\\\"\'*?[\\]!{}^,]|^[#~]/g,$one=>`\\\\${$one}`);let o="";',
  },
];

export const ARITHMETIC_PATCHES: readonly BashPatch[] = [
  ...EXPRESSION_PATCHES,
  ...REFUSED_PATCHES,
  ...TEST_PATCHES,
  ...VARIABLE_PATCHES,
  ...PRINTF_PATCHES,
];
