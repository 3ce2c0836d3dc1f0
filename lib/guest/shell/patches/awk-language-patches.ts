// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of what is changed.
/**
 * Patches of just-bash's awk towards gawk's language: `switch`, arrays in arrays, fields by pattern or width, `getline`
 * into any place and in `BEGIN`, rules for each file, the forms of its options. bash-patches.ts applies them behind
 * those of awk-value-patches.ts; `$language` is awk-language.ts.
 */
import { AWK_FILE, type BashPatch } from './bash-patch.ts';

const change = (from: string, to: string): BashPatch => ({ file: AWK_FILE, from, to });

const WORD_PATCHES: readonly BashPatch[] = [
  // A variable in front of a group is no call: `s (x ? "a" : "b")` was one.
  change(
    'let s=jt.get(r);return s!==void 0?{type:s,value:r,line:t,column:n}:{type:i.IDENT,value:r,line:t,column:n}',
    'let s=jt.get(r);return s!==void 0?{type:s,value:r,line:t,column:n}:{type:i.IDENT,value:r,line:t,column:n,adjacent:this.peek()==="("}',
  ),
  change(
    'let t=this.advance().value;if(this.check(i.LPAREN)){this.advance();let n=[];if(!this.check(i.RPAREN))for(',
    'let $word=this.advance(),t=$word.value;if(this.check(i.LPAREN)&&($word.adjacent||Me.has(t))){this.advance();let n=[];if(!this.check(i.RPAREN))for(',
  ),
  change(
    'let t=this.advance().value;if(this.check(i.LPAREN)){this.advance();let n=[];if(this.skipNewlines(),',
    'let $word=this.advance(),t=$word.value;if(this.check(i.LPAREN)&&($word.adjacent||Me.has(t))){this.advance();let n=[];if(this.skipNewlines(),',
  ),
  change(
    'readNumber(){let t=this.line,n=this.column,r="";',
    'readNumber(){let t=this.line,n=this.column,r="",$base=/^0(?:[xX]([0-9a-fA-F]+)|([0-7]+)(?![0-9.eE]))/.exec(this.input.slice(this.pos,this.pos+32));if($base){for(let $each of $base[0])this.advance();return{type:i.NUMBER,value:$base[1]?parseInt($base[1],16):parseInt($base[2],8),line:t,column:n}}',
  ),
  change(
    'return s==="*"?(this.advance(),{type:i.CARET,value:"**",line:t,column:n})',
    'return s==="*"?(this.advance(),this.peek()==="="?(this.advance(),{type:i.CARET_ASSIGN,value:"^=",line:t,column:n}):{type:i.CARET,value:"**",line:t,column:n})',
  ),
  // `switch`, of which `case /pattern/` is a part.
  change('this.lastTokenType=n.type', 'this.lastTokenType=n.type,this.$last=n.value'),
  change('r==="/"&&this.canBeRegex()?', 'r==="/"&&(this.canBeRegex()||this.$last==="case")?'),
  change(
    'if(this.check(i.BREAK))return this.advance(),{type:"break"};',
    'if(this.check(i.IDENT)&&this.current().value==="switch")return this.$switch();if(this.check(i.BREAK))return this.advance(),{type:"break"};',
  ),
  change(
    'parseIf(){',
    '$switch(){this.advance(),this.expect(i.LPAREN);let t=this.parseExpression(),n=[];for(this.expect(i.RPAREN),this.skipNewlines(),this.expect(i.LBRACE),this.skipTerminators();!this.check(i.RBRACE);){let $word=this.expect(i.IDENT).value,r=null,s=[];if($word==="case")r=this.match(i.MINUS,i.PLUS)?this.parseUnary():this.parsePrimary();else if($word!=="default")throw new Error(`syntax error at ${$word} in a switch`);for(this.expect(i.COLON),this.skipTerminators();!this.check(i.RBRACE)&&!this.check(i.EOF)&&!(this.check(i.IDENT)&&/^(?:case|default)$/.test(this.current().value));)s.push(this.parseStatement()),this.skipTerminators();n.push({test:r,statements:s})}return this.expect(i.RBRACE),{type:"switch",subject:t,cases:n}}parseIf(){',
  ),
  change(
    'case"break":e.loopBreak=!0;break;',
    'case"switch":await $switch(e,t);break;case"break":e.loopBreak=!0;break;',
  ),
  change(
    'async function Ut(e,t,n){',
    'async function $switch(e,t){let n=await S(e,"switch subject evaluation",()=>E(e,t.subject)),r=-1;for(let s=0;s<t.cases.length&&r<0;s++){let a=t.cases[s].test;if(a!==null&&(a.type==="regex"?O(a.pattern).test(v(n)):$language.isCase(n,await S(e,"case evaluation",()=>E(e,a)))))r=s}if(r<0)r=t.cases.findIndex(s=>s.test===null);if(r>=0)for(let s of t.cases.slice(r)){await S(e,"case execution",()=>q(e,s.statements));if(Bt(e)){e.loopBreak=!1;break}}}async function Ut(e,t,n){',
  ),
  // Rules before and behind each file.
  change(
    'if(this.check(i.BEGIN))this.advance(),t={type:"begin"};',
    'if(this.check(i.IDENT)&&/^(?:BEGIN|END)FILE$/.test(this.current().value))t={type:this.advance().value.toLowerCase()};else if(this.check(i.BEGIN))this.advance(),t={type:"begin"};',
  ),
  change(
    'async executeBegin(){',
    'async $rules(t){for(let n of this.program.rules)if(n.pattern?.type===t)await q(this.ctx,n.action.statements);return!1}async executeBegin(){',
  ),
];

/** Numbers in their forms; a division by zero gave 0. */
const NUMBER_PATCHES: readonly BashPatch[] = [
  change(',W==="G"&&(d=d.toUpperCase())', ''),
  change(
    'd.includes(".")&&(d=d.replace(/\\.?0+$/,"").replace(/\\.?0+e/,"e")),d.includes("e")&&(d=d.replace(/\\.?0+e/,"e")),',
    'd=$awk.trimmed(d),W==="G"&&(d=d.toUpperCase()),',
  ),
  change(
    'if(y!==void 0&&/[feEgGxXo]/.test(W))y=F(y);',
    'if(y!==void 0&&/[feEgGxXo]/.test(W))y=F(y);if(y===void 0&&/[sdicfeEgGxXo]/.test(W))throw new Error("fatal: not enough arguments to satisfy format string");',
  ),
  change('p===0?d="0":', '!Number.isFinite(p)?d=$awk.textOfNumber(p):p===0?d="0":'),
  change(
    'case"/":return t!==0?e/t:0;case"%":return t!==0?e%t:0;',
    'case"/":case"%":if(t===0)throw new Error(`fatal: division by zero attempted${n==="%"?" in `%\'":""}`);return n==="/"?e/t:e%t;',
  ),
  change(
    'case"/=":a=c!==0?l/c:0;break;case"%=":a=c!==0?l%c:0;break;',
    'case"/=":case"%=":if(c===0)throw new Error(`fatal: division by zero attempted in \\`${s}\'`);a=s==="/="?l/c:l%c;break;',
  ),
  change(
    '["mktime",de("mktime")]',
    '...Object.entries($language.NUMBER_FUNCTIONS).map(([$name,$do])=>[$name,async($args,$state,$run)=>{let $values=[];for(let $each of $args)$values.push(await $run.evalExpr($each));return $do(...$values)}]),["isarray",async(e,t)=>e[0]?.type==="variable"&&t.arrays[Y(t,e[0].name)]?1:0],["typeof",async(e,t,n)=>e[0]?.type==="variable"&&t.arrays[Y(t,e[0].name)]?"array":$language.kindOf(await n.evalExpr(e[0]))],["patsplit",async(e,t,n)=>{let r=L(await n.evalExpr(e[0])),s=e[2]?await ne(e[2],n):L(t.vars.FPAT??"[^ \\t\\n]+"),{found:a,between:o}=$language.matchesOf(r,O(s,"g"));Ge(t,e[1].name),$put(t,Y(t,e[1].name),a,1/0);if(e[3]?.type==="variable"){Ge(t,e[3].name);o.forEach((l,c)=>ye(t,e[3].name,String(c),l))}return a.length}]',
  ),
];

const FIELD_PATCHES: readonly BashPatch[] = [
  // IGNORECASE.
  change(
    'import{a as O,b as X}from"./chunk-KVG5FR5F.js"',
    'import{a as $O,b as X}from"./chunk-KVG5FR5F.js";var $folds=!1;function O(e,t=""){return $O(e,$folds?`${t}i`:t)}',
  ),
  change(
    '$loose.holds(r,s,n,$value=>v($value,e))',
    '$loose.holds(r,s,n,$value=>$folds?v($value,e).toLowerCase():v($value,e))',
  ),
  // FPAT and FIELDWIDTHS, until FS is set.
  change(
    '}e.vars[t]=n}',
    '}if(t==="IGNORECASE")$folds=P(n);else if(t==="FPAT"||t==="FIELDWIDTHS")e.cut=$language.cutterOf(t,v(n),$pattern=>O($pattern,"g"));e.vars[t]=n}',
  ),
  change('function De(e,t){if(e.FS=t,', 'function De(e,t){if(e.cut=null,e.FS=t,'),
  change('function Fe(e,t){return', 'function Fe(e,t){return e.cut?e.cut(t):'),
  // `sub` and `gsub` of an element of an array changed nothing, or $0.
  change(
    'async function Oe(e,t){return e?',
    'async function Oe(e,t){if(e?.type==="array_access")return{array:await t.arrayOf(e.array),key:v(await t.evalExpr(e.key))};return e?',
  ),
  change(
    'function Le(e,t){if(e==="$0")',
    'function Le(e,t){if(typeof e==="object")return v(ae(t,e.array,e.key));if(e==="$0")',
  ),
  change(
    'function Te(e,t,n){if(e==="$0")n.line=t,n.fields=n.FS===" "?t.trim().split(/\\s+/).filter(Boolean):n.fieldSep.split(t),n.NF=n.fields.length;',
    'function Te(e,t,n){if(typeof e==="object")ye(n,e.array,e.key,t);else if(e==="$0")n.line=t,n.fields=Fe(n,t),n.NF=n.fields.length;',
  ),
];

/** `getline` into an element or a field, and in `BEGIN`. */
const GETLINE_PATCHES: readonly BashPatch[] = [
  change(
    'this.check(i.IDENT)&&(n=this.advance().value),this.parseLogicalOrRest',
    'n=this.$target(),this.parseLogicalOrRest',
  ),
  change('this.check(i.IDENT)&&(t=this.advance().value),this.check(i.LT)', 't=this.$target(),this.check(i.LT)'),
  change(
    'parseFieldIndex(){',
    '$target(){if(!this.match(i.IDENT,i.DOLLAR))return;let t=this.parsePrimary();return t.type==="variable"?t.name:t}$array(){let t=this.expect(i.IDENT).value;for(;this.check(i.LBRACKET);)t={array:t,key:this.$key()};return t}$key(){this.expect(i.LBRACKET);let t=this.parseExpression();for(;this.check(i.COMMA);)this.advance(),t={type:"binary",operator:" ",left:{type:"binary",operator:" ",left:t,right:{type:"variable",name:"SUBSEP"}},right:this.parseExpression()};return this.expect(i.RBRACKET),t}parseFieldIndex(){',
  ),
  change(
    'if(!e.lines||e.lineIndex===void 0)return-1;',
    'if((!e.lines||e.lineIndex===void 0)&&!await e.first?.())return 0;',
  ),
  change(
    'return t?j(e,t,$loose.fromOutside(a)):K(e,a),e.NR++,e.FNR++,',
    'return t?await $store(e,t,$loose.fromOutside(a)):K(e,a),e.NR++,e.FNR++,',
  ),
  change(
    'return a.index=o,t?j(e,t,$loose.fromOutside(l)):',
    'return a.index=o,t?await $store(e,t,$loose.fromOutside(l)):',
  ),
  change(
    'return o.index=l,t?j(e,t,$loose.fromOutside(c)):',
    'return o.index=l,t?await $store(e,t,$loose.fromOutside(c)):',
  ),
  // The key of an element is read at the end of the input too.
  change('if(o>=a.lines.length)return 0;', 'if(o>=a.lines.length)return t?.key&&await E(e,t.key),0;'),
  change('if(l>=o.lines.length)return 0;', 'if(l>=o.lines.length)return t?.key&&await E(e,t.key),0;'),
  change(
    'async function Dt(e,t,n,r){',
    'async function $store(e,t,n){if(typeof t==="string")j(e,t,n);else if(t.type==="field")Ne(e,Math.floor(b(await E(e,t.index))),n);else{let r=await $inner(e,t.array);ye(e,r,v(await E(e,t.key),e),n)}}async function Dt(e,t,n,r){',
  ),
  change(
    'A.turn=$awk.turns(t.signal)',
    '$folds=!1,A.turn=$awk.turns(t.signal),A.first=async()=>{A.first=null;let $of=c.find($each=>!/^[A-Za-z_]\\w*=/.test($each))??"-",$text=$of==="-"?ee(t.stdin):await t.fs.readFile(t.fs.resolvePath(t.cwd,$of)).catch(()=>null);return $text!==null&&(A.FILENAME=$of==="-"?"":$of,A.FNR=0,A.lines=$awk.recordsOf($text,A.vars.RS),A.lineIndex=-1,A.begun=!0)}',
  ),
  change(
    'for(A.FILENAME=g,A.FNR=0,A.lines=G,A.lineIndex=-1,A.shouldNextFile=!1;A.lineIndex<G.length-1;){',
    'let $ends=/\\bRT\\b/.test(l)?$awk.endsOf(d,A.vars.RS):null;for(A.begun?(A.begun=!1,G=A.lines):(A.FILENAME=g,A.FNR=0,A.lines=G,A.lineIndex=-1),A.shouldNextFile=!1,await T.$rules("beginfile");A.lineIndex<G.length-1||await T.$rules("endfile");){',
  ),
  change(
    'await n("line execution",()=>T.executeLine(G[Q]))',
    '$ends&&(A.vars.RT=$ends[Q]??""),await n("line execution",()=>T.executeLine(G[Q]))',
  ),
];

const ARRAY_PATCHES: readonly BashPatch[] = [
  change(
    'if(this.check(i.LBRACKET))throw new Error(`arrays of arrays (\\`${t}[…][…]\') are not supported: use \\`${t}[…, …]\'`);return{type:"array_access",array:t,key:r}',
    'for(;this.check(i.LBRACKET);)t={array:t,key:r},r=this.$key();return{type:"array_access",array:t,key:r}',
  ),
  change(
    'let n=this.expect(i.IDENT).value;return{type:"in",key:t,array:n}',
    'let n=this.$array();return{type:"in",key:t,array:n}',
  ),
  change(
    'let n=String(e.expect(h.IDENT).value);return{type:"in",key:t,array:n}',
    'let n=e.$array();return{type:"in",key:t,array:n}',
  ),
  change(
    'let o=this.expect(i.IDENT).value;this.expect(i.RPAREN),this.skipNewlines();',
    'let o=this.$array();this.expect(i.RPAREN),this.skipNewlines();',
  ),
  change(
    'let $name=Y(e,t.array);if($name!=="ENVIRON"&&$name!=="PROCINFO"&&!(e.arrays[$name]&&n in e.arrays[$name]))ye(e,t.array,n,$loose.UNSET);return ae(e,t.array,n)}',
    'let $array=typeof t.array==="string"?t.array:await $inner(e,t.array),$name=Y(e,$array);if($name!=="ENVIRON"&&$name!=="PROCINFO"&&!(e.arrays[$name]&&n in e.arrays[$name]))ye(e,$array,n,$loose.UNSET);let $value=ae(e,$array,n);if($value instanceof $language.InnerArray)throw new Error(`fatal: attempt to use array \\`${$array}["${n}"]\' in a scalar context`);return $value}async function $inner(e,t){if(typeof t==="string")return t;let n=await $inner(e,t.array),r=v(await E(e,t.key),e),s=Y(e,n),a=`${s}\\u0001${r}`;return e.arrays[s]?.[r]instanceof $language.InnerArray||ye(e,n,r,new $language.InnerArray(a)),e.arrays[a]??=Object.create(null),e.hasInner=!0,a}async function $arguments(e,t,n){let r=[];for(let[s,a]of n.entries()){if(a.type!=="array_access")r.push(a);else if(/^asorti?$/.test(t)||/^(?:pat)?split$/.test(t)&&s%2===1)r.push({type:"variable",name:await $inner(e,a)});else if(!e.hasInner)r.push(a);else{let o=await $inner(e,a.array),l=v(await E(e,a.key),e),c=e.arrays[Y(e,o)]?.[l];r.push(c instanceof $language.InnerArray?{type:"variable",name:c.name}:{type:"array_access",array:o,key:{type:"string",value:l}})}}return r}',
  ),
  change('o=ae(e,r.array,u)', 'o=ae(e,typeof r.array==="string"?r.array:await $inner(e,r.array),u)'),
  change('ye(e,r.array,o,a)', 'ye(e,typeof r.array==="string"?r.array:await $inner(e,r.array),o,a)'),
  change(
    's=b(ae(e,t.array,a)),ye(e,t.array,a,s+n)',
    'let $array=typeof t.array==="string"?t.array:await $inner(e,t.array);s=b(ae(e,$array,a)),ye(e,$array,a,s+n)',
  ),
  change('return xe(e,n,r)?1:0', 'return xe(e,typeof n==="string"?n:await $inner(e,n),r)?1:0'),
  change('let n=e.arrays[Y(e,t.array)];if(n)for(', 'let n=e.arrays[Y(e,await $inner(e,t.array))];if(n)for('),
  change('_e(e,t.array,n)', '_e(e,await $inner(e,t.array),n)'),
  change(
    'function _e(e,t,n){let r=Y(e,t);',
    'function _e(e,t,n){let r=Y(e,t),$gone=e.arrays[r]?.[n];if($gone instanceof $language.InnerArray)Ge(e,$gone.name);',
  ),
  change(
    'function Ge(e,t){let n=Y(e,t);',
    'function Ge(e,t){let n=Y(e,t);if(e.hasInner)for(let $each of Object.values(e.arrays[n]??{}))$each instanceof $language.InnerArray&&Ge(e,$each.name);',
  ),
  change(
    'let r=Me.get(t);if(r)return r(n,e,{evalExpr:a=>E(e,a)});',
    'if(n.some($each=>$each.type==="array_access"))n=await $arguments(e,t,n);let r=Me.get(t);if(r)return r(n,e,{evalExpr:a=>E(e,a),arrayOf:a=>$inner(e,a)});',
  ),
];

/** Options in all their forms, and files that are written anew. */
const OPTION_PATCHES: readonly BashPatch[] = [
  change(
    'if(Ae(e))return Re(nn);',
    'if(Ae(e))return Re(nn);let $plain;try{$plain=$language.plainArguments(e)}catch($error){return{stdout:"",stderr:`awk: ${$error.message}\\n`,exitCode:2}}if($plain.isInPlace)return $inPlace($plain.args,t);if($plain.args.slice(0,$plain.args.indexOf("--")).some($each=>$each==="--version"||$each==="-V"))return{stdout:"GNU Awk 5.2.1, as it is built into the sandbox\'s shell\\n",stderr:"",exitCode:0};e=$plain.args;',
  ),
  change(
    'function Se(e){',
    'async function $inPlace($args,t){let $from=$args.indexOf("--")+1,$first=$args.slice(0,$from).includes("-f")?$from:$from+1,$rest=$args.slice($first),$result={stdout:"",stderr:"",exitCode:0};for(let $name of $rest.filter($each=>!/^[A-Za-z_]\\w*=/.test($each))){let $one=await mi.execute([...$args.slice(0,$first),...$rest.filter($each=>$each===$name||/^[A-Za-z_]\\w*=/.test($each))],t);$result={...$result,stderr:$result.stderr+$one.stderr,exitCode:$one.exitCode};if($one.exitCode!==0)break;await t.fs.writeFile(t.fs.resolvePath(t.cwd,$name),$one.stdout)}return $result}function Se(e){',
  ),
];

export const AWK_LANGUAGE_PATCHES: readonly BashPatch[] = [
  ...WORD_PATCHES,
  ...NUMBER_PATCHES,
  ...FIELD_PATCHES,
  ...GETLINE_PATCHES,
  ...ARRAY_PATCHES,
  ...OPTION_PATCHES,
];
