// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of the shell.
/**
 * Patches of just-bash's words: which word of a command is its name, what `${…}` and `$(…)` are in arithmetic, and what
 * the patterns of files match. bash-patches.ts applies them; `$globs` is recursive-globs.ts.
 */
import { type BashPatch, INTERPRETER_FILE, PRINTF_FILE, REGEX_FILE } from './bash-patch.ts';

/** The name of a command was one word: `"$@"`, `"${command[@]}"` and `$command` with blanks were names with blanks. */
const COMMAND_NAME_PATCHES: readonly BashPatch[] = [
  {
    file: INTERPRETER_FILE,
    from: 'let u=await se(this.ctx,t.name),f=[],d=[],p=(',
    to: 'let $words=t.name.parts.every($part=>$part.type==="Literal")?null:await gt(this.ctx,t.name),u=$words===null?await se(this.ctx,t.name):$words.values[0]??"",f=[],d=[],p=(',
  },
  {
    file: INTERPRETER_FILE,
    from: 'f.push(P),d.push($)};if(ia(t.name,',
    to: 'f.push(P),d.push($)},$arrays=[];for(let $word of $words?.values.slice(1)??[])p($word,$words.quoted);if(ia(t.name,',
  },
  {
    file: INTERPRETER_FILE,
    from: 'let m=t.name.parts.every(P=>P.type==="CommandSubstitution"',
    to: 'if($arrays.length>0&&(f.some($word=>/^-\\w*[aA]/.test($word))||(f.unshift("-a"),d.unshift(!0)),u==="local"&&this.ctx.state.localScopes.length>0))u="declare";let m=$words?.values.length===0||t.name.parts.every(P=>P.type==="CommandSubstitution"',
  },
  // `exec > >(command)` ended the process of the sandbox; at the top level it is a group (script-transform.ts).
  {
    file: INTERPRETER_FILE,
    from: 'let w=Vn(this.ctx,t.redirections,u==="exec"?ku:yr);',
    to: 'if(u==="exec"&&f.length===0&&t.redirections.some($each=>$each.target?.parts?.some($part=>$part.type==="ProcessSubstitution"&&$part.direction==="output")))return a(),D("bash: exec: `>(...)` as an output of the whole shell works at the top level of a script alone\\n",1);let w=Vn(this.ctx,t.redirections,u==="exec"?ku:yr);',
  },
];

/** In an assignment, `[[`, `case` and a here-string `"${array[*]}"` was joined by blanks, whatever IFS is. */
const ARRAY_PATCHES: readonly BashPatch[] = [
  {
    file: INTERPRETER_FILE,
    from: 'if(a==="@"||a==="*"){let f=K(e,o);if(f.length>0)return f.map(([,p])=>p).join(" ");',
    to: 'if(a==="@"||a==="*"){let f=K(e,o);if(f.length>0)return f.map(([,p])=>p).join(a==="*"?X(e.state.env):" ");',
  },
  // `${#@}` was the length of all arguments together.
  {
    file: INTERPRETER_FILE,
    from: 'function Hl(e,t,n){e.coverage?.hit("bash:expansion:length");',
    to: 'function Hl(e,t,n){e.coverage?.hit("bash:expansion:length");if(t==="@"||t==="*")return e.state.env.get("#")||"0";',
  },
  // `declare -p` wrote keys in single quotes, and values without any.
  {
    file: INTERPRETER_FILE,
    from: 'function $o(e){return Ae(e)}function Co(e){return',
    to: 'function $o(e){return sn(e)}function Co(e){return/^[\\w.,:\\/+@%^-]+$/.test(e)?e:sn(e);return',
  },
];

/** `$((${x%.*} + ${m[$k]:-0}))`, `$((10#${x}))` and `$(($(command)))` of more than a number were 0, or a part of it. */
const SUBSTITUTED_NUMBER_PATCHES: readonly BashPatch[] = [
  {
    file: INTERPRETER_FILE,
    from: 'async function us(e,t){',
    to: 'async function $number(e,t,n){let r=t.trim();if(r==="")return 0;if($exact.isPlain(r))return $exact.integer(r);let{expr:s,pos:i}=On(new Q,r,0),o=r.slice(i).trim();if(o!=="")throw new ce(`${r}: syntax error in expression (error token is "${o}")`);return Ln(e,s,!1,n)}async function us(e,t){return se(e,new Q().parseWordFromString("${"+t+"}",!0,!1));',
  },
  {
    file: INTERPRETER_FILE,
    from: 'let i=await us(e,t.content);return Number.parseInt(i,10)||0',
    to: 'return $number(e,await us(e,t.content),r)',
  },
  // A command substitution inside of an arithmetic expression also knew no functions and no variables of its script.
  {
    file: INTERPRETER_FILE,
    from: 'if(e.execFn){let i=await e.execFn(t.command,{signal:e.state.signal});i.stderr&&(e.state.expansionStderr=(e.state.expansionStderr||"")+i.stderr);let o=i.stdout.trim();return Number.parseInt(o,10)||0}return 0',
    to: 'return $number(e,await ns(e,t.command),r)',
  },
  {
    file: INTERPRETER_FILE,
    from: 'if(s<t.length&&/[a-zA-Z_]/.test(t[s])){let p=c;',
    to: 'if(c.endsWith("#")&&t[s]==="$"){let{expr:p,pos:h}=sl(e,t,s,!0);return{expr:{type:"ArithBased",base:c,digits:p},pos:h}}if(s<t.length&&/[a-zA-Z_]/.test(t[s])){let p=c;',
  },
  {
    file: INTERPRETER_FILE,
    from: 'case"ArithDynamicBase":{',
    to: 'case"ArithBased":{let i=or(t.base+await Tn(e,t.digits,n,r));if(Number.isNaN(i))throw new ce("value too great for base");return i}case"ArithDynamicBase":{',
  },
];

/**
 * `declare -A m=([k]="a b")` kept `a`, `declare -a a=($words)` split nothing, and `local -A` and `local -i` made plain
 * variables. The names are declared, and the arrays then assigned as any other is; read-only ones are written as text.
 */
const DECLARATION_PATCHES: readonly BashPatch[] = [
  // `local -n out=$1; out=(a b)` filled an array of the other name.
  {
    file: INTERPRETER_FILE,
    from: 'if(Be(e,n)){if(t.name)return o+=`bash: ${n}: readonly variable\n`,{continueToNext:!0',
    to: 'if(ue(e,n)){let $target=Fe(e,n);$target&&/^\\w+$/.test($target)&&(n=$target)}if(Be(e,n)){if(t.name)return o+=`bash: ${n}: readonly variable\n`,{continueToNext:!0',
  },
  {
    file: INTERPRETER_FILE,
    from: 's.push(e.parseWordFromString(h,!1,!1,!0))}',
    to: 's.push(Object.assign(e.parseWordFromString(h,!1,!1,!0),{array:{name:f,words:d}}))}',
  },
  {
    file: INTERPRETER_FILE,
    from: 'for(let P of t.args){let $=await tu(this.ctx,P);if($)p($,!0);',
    to: 'for(let P of t.args){let $array=$arrayOf(u,t,P);if($array){$arrays.push($array.command),p($array.name,!0);continue}let $=await tu(this.ctx,P);if($)p($,!0);',
  },
  {
    file: INTERPRETER_FILE,
    from: 'v=await this.runCommand(u,f,d,n,!1,!1,g,y)}',
    to: 'v=await this.runCommand(u,f,d,n,!1,!1,g,y);for(let $array of v.exitCode===0?$arrays:[]){let $made=await nf(this.ctx,$array);if($made.error){v=$made.error;break}}}',
  },
  {
    file: INTERPRETER_FILE,
    from: 'async function nf(e,t){',
    to: 'function $arrayOf(e,t,n){if(!n.array||e!=="declare"&&e!=="typeset"&&e!=="local"||t.args.some($word=>/^-\\w*[rnp]/.test(we($word))))return null;let r=n.array.name.replace(/\\+$/,"");return{name:r,command:{type:"SimpleCommand",name:null,args:[],redirections:[],line:t.line,assignments:[M.assignment(r,null,r!==n.array.name,n.array.words)]}}}async function nf(e,t){',
  },
  {
    file: INTERPRETER_FILE,
    from: '/^\\[.+\\]=/.test(k)?A=k:k===""',
    to: '/^\\[.+?\\]=/s.test(k)?A=$element(k):k===""',
  },
  {
    file: INTERPRETER_FILE,
    from: 'async function tu(e,t){',
    to: 'function $element(e){let t=e.indexOf("]=")+2,n=e.slice(t);return n===""||/[^\\w.,:@%+\\/-]/.test(n)?`${e.slice(0,t)}"${n.replace(/[\\\\"]/g,"\\\\$&")}"`:e}async function tu(e,t){',
  },
  {
    file: INTERPRETER_FILE,
    from: 'if(e.state.localScopes.length===0)return D(`bash: local: can only be used in a function\n`);',
    to: 'if(e.state.localScopes.length===0)return D(`bash: local: can only be used in a function\n`);if(t.some($word=>/^-[a-zA-Z]*[Airxlu][a-zA-Z]*$/.test($word)||/^\\w+\\+?=\\(\\s*\\[/.test($word)))return Do(e,t);',
  },
];

/** `declare -f` printed nothing and succeeded, and `type` left words out. In the original both know the tree alone. */
const FUNCTION_PATCHES: readonly BashPatch[] = [
  {
    file: INTERPRETER_FILE,
    from: 'let P=!0;for(let $ of g)e.state.functions.has($)||(P=!1);return L("","",P?0:1)',
    to: 'let P=!0,$shown="";for(let $ of g){let $found=e.state.functions.get($);$found?$shown+=$function($,$found):P=!1}return L($shown,"",P?0:1)',
  },
  {
    file: INTERPRETER_FILE,
    from: 'for(let V of R)$+=`${V} ()\n{\n    # function body\n}\n`;',
    to: 'for(let V of R)$+=$function(V,e.state.functions.get(V));',
  },
  {
    file: INTERPRETER_FILE,
    from: 'function sf(e,t){let n;return t.body.type===',
    to: 'function $function(e,t){return`${e} () \n{ \n    ${(t.body.type==="Group"?t.body.body.map(wl):[El(t.body)]).map(($one,$at,$all)=>$at===$all.length-1?$one:$one+(/<<[^]*\\n/.test($one)?"\\n\\n    ":";\\n    ")).join("")}\n}\n`}function sf(e,t){return`${e} is a function\n`+$function(e,t);let n;return t.body.type===',
  },
  {
    file: INTERPRETER_FILE,
    from: 'case"ArithBracedExpansion":return`\\${${e.content}}`;',
    to: 'case"ArithBased":return e.base+pe(e.digits);case"ArithBracedExpansion":return`\\${${e.content}}`;',
  },
];

/** `"${a[@]^}"` was one word, and so was `${a[@]+"${a[@]}"}`, with which scripts pass arrays that may be empty. */
const ELEMENT_PATCHES: readonly BashPatch[] = [
  {
    file: INTERPRETER_FILE,
    from: 'async function gt(e,t){return ',
    to: 'async function $elements(e,t){let n=t.parts.length===1?t.parts[0]:void 0,r=n?.type==="DoubleQuoted";if(r&&(n=n.parts.length===1?n.parts[0]:void 0),n?.type!=="ParameterExpansion"||!/^(?:@|\\w+\\[@\\])$/.test(n.parameter))return null;let s=n.operation,i=()=>gt(e,{type:"Word",parts:[{type:"DoubleQuoted",parts:[{...n,operation:null}]}]});if(s?.type==="CaseModification"&&r){let o=[];for(let a of(await i()).values)o.push(await Kl(e,a,s,yt,as));return{values:o,quoted:!0}}if(s?.type!=="UseAlternative"||s.word?.parts.length!==1||s.word.parts[0].type!=="DoubleQuoted")return null;let o=(await i()).values;return o.length===0||s.checkEmpty&&o.join("")===""?r?null:{values:[],quoted:!0}:gt(e,s.word)}async function gt(e,t){let $found=await $elements(e,t);if($found!==null)return $found;return ',
  },
];

const GLOB_PATCHES: readonly BashPatch[] = [
  // RE2 knows no lookahead, so that `!(…)` matched nothing; the shell writes it as one.
  {
    file: REGEX_FILE,
    from: 'function P1(i,t="",e={}){',
    to: 'function P1(i,t="",e={}){if(i.includes("(?!(?:"))return new a1(new RegExp(i,t));',
  },
  {
    file: INTERPRETER_FILE,
    from: 'n+=`(?:${m.join("|")})`}}else n+=`(?:(?!(?:${u})).)*?`}else n+=`(?!(?:${u})$).*`;s=o;continue}}if(i==="*")n+=".*"',
    to: 'n+=`(?:${m.join("|")})`}}else n+=`(?!(?:${u})${this.patternToRegexStr(t.slice(o+1))}$).*?`}else n+=`(?!(?:${u})$).*`;s=o;continue}}if(i==="*")n+=".*"',
  },
  // `**` went into hidden folders, and knew no folder behind it.
  {
    file: INTERPRETER_FILE,
    from: 'this.isGlobstarValid(t))n=await this.expandRecursive(t);',
    to: 'this.isGlobstarValid(t))n=await $globs.expandRecursive(this,t);',
  },
];

export const WORD_PATCHES: readonly BashPatch[] = [
  // What `$(set -e; …)` set, and the functions that it defined, stayed for the rest of the script; and the
  // errors of the first `$(…)` of a command were lost behind a second.
  {
    file: INTERPRETER_FILE,
    from: 'async function Zc(e,t){',
    to: 'async function $apart(e,t){let{options:n,shoptOptions:r,functions:s,expansionStderr:i}=e.state;e.state.options={...n},e.state.shoptOptions={...r},e.state.functions=new Map(s),e.state.traceDepth=(e.state.traceDepth??0)+1;try{return await t()}finally{e.state.traceDepth--,e.state.expansionStderr=i,e.state.options=n,e.state.shoptOptions=r,e.state.functions=s}}async function Zc(e,t){',
  },
  ...COMMAND_NAME_PATCHES,
  ...ARRAY_PATCHES,
  ...SUBSTITUTED_NUMBER_PATCHES,
  ...GLOB_PATCHES,
  ...ELEMENT_PATCHES,
  ...DECLARATION_PATCHES,
  ...FUNCTION_PATCHES,
  // `!(…)` at the beginning of a word was a negation.
  {
    file: INTERPRETER_FILE,
    from: 'i==="!"?o==="="?',
    to: 'i==="!"?o==="("&&[E.WORD,E.NAME,E.NUMBER,E.IN,E.DSEMI].includes(this.tokens.at(-1)?.type)?this.readWord(n,r,s):o==="="?',
  },
  // printf: half of an even digit was rounded up, and `%g` cut the zeros of an exponent.
  {
    file: PRINTF_FILE,
    from: 's=n.toPrecision(t||1),o.includes("#")||(s=s.replace(/\\.?0+$/,""),s=s.replace(/\\.?0+e/,"e")),',
    to: 's=$exact.general(n,t,o.includes("#")),',
  },
  { file: PRINTF_FILE, from: 's=n.toFixed(t),', to: 's=$exact.fixed(n,t),' },
  // The keys of an associative array come in the order of bash's hash table; they were sorted.
  {
    file: INTERPRETER_FILE,
    from: 'function Et(e,t){return Array.from(Pe(e,t)?.elements.keys()??[]).sort()}',
    to: 'function Et(e,t){return $keys.inHashOrder(Array.from(Pe(e,t)?.elements.keys()??[]))}',
  },
  {
    file: INTERPRETER_FILE,
    from: 'n+=`declare -A ${i}=(${f.join(" ")})\n`',
    to: 'n+=`declare -A ${i}=(${f.join(" ")} )\n`',
  },
  {
    file: INTERPRETER_FILE,
    from: 'l+=`declare -A ${f}=(${g.join(" ")})\n`',
    to: 'l+=`declare -A ${f}=(${g.join(" ")} )\n`',
  },
  {
    file: INTERPRETER_FILE,
    from: 't+=`declare -A ${r}=(${i.join(" ")})\n`',
    to: 't+=`declare -A ${r}=(${i.join(" ")} )\n`',
  },
  // With dotglob, `*/` found `./` and `../`.
  {
    file: INTERPRETER_FILE,
    from: 'if(s.startsWith(".")||this.dotglob){let d=',
    to: 'if(!this.globskipdots&&(s.startsWith(".")||this.dotglob)){let d=',
  },
  {
    file: INTERPRETER_FILE,
    from: '(s.startsWith(".")||this.dotglob)&&(a.includes',
    to: '!this.globskipdots&&(s.startsWith(".")||this.dotglob)&&(a.includes',
  },
];
