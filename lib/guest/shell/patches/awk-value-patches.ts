// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of what is changed.
/**
 * Patches of just-bash's awk: when a value is a number or a text, what an expression binds, the arguments of a
 * function, and output that costs what it is long. bash-patches.ts applies them behind those of awk-patches.ts;
 * `$loose` is awk-values.ts.
 */
import { AWK_FILE, type BashPatch } from './bash-patch.ts';

const change = (from: string, to: string): BashPatch => ({ file: AWK_FILE, from, to });

/** Where values come from outside, and where they are compared, tested and made text. */
const VALUE_PATCHES: readonly BashPatch[] = [
  change('if(vt(n))return It(r,s,n);', 'if(vt(n))return $loose.holds(r,s,n,$value=>v($value,e))?1:0;'),
  change('function P(e){return typeof e=="number"?e!==0:!(e===""||e==="0")}', 'function P(e){return $loose.isTrue(e)}'),
  change(
    'function v(e){return typeof e=="string"?e:$awk.textOfNumber(e)}',
    'function v(e,$state){if(typeof e=="string")return e;if(typeof e!="number")return String(e);let $format=$state?.vars.CONVFMT;return $format===void 0||Number.isInteger(e)?$awk.textOfNumber(e):ie(String($format),[e])}',
  ),
  change('function L(e){return typeof e=="string"?e:(Number.isInteger(e),String(e))}', 'function L(e){return v(e)}'),
  change(
    'case"ARGC":return e.ARGC}return e.vars[t]??""',
    'case"ARGC":return e.ARGC;case"CONVFMT":return e.vars.CONVFMT??"%.6g"}return e.vars[t]??$loose.UNSET',
  ),
  change(
    'return t===0?e.line:t<0||t>e.fields.length?"":e.fields[t-1]??""}',
    'if(t===0)return $loose.fromOutside(e.line);if(t<0)throw new Error(`fatal: attempt to access field ${t}`);return $loose.fromOutside(e.fields[t-1]??"")}',
  ),
  change(
    'if(t==="ARGV")return e.ARGV[n]??"";if(t==="ENVIRON")return e.ENVIRON[n]??"";let r=',
    'if(t==="ARGV"||t==="ENVIRON")return $loose.fromOutside(v(e[t][n]??""));let r=',
  ),
  change('A.ENVIRON=Ie(t.env);', 'A.ENVIRON=Ie(t.env),A.arrays.ENVIRON=A.ENVIRON,A.arrays.ARGV=A.ARGV;'),
  change('j(A,$name,a[$name])', 'j(A,$name,$loose.fromOutside(a[$name]))'),
  change('return t?j(e,t,a):K(e,a),e.NR++,', 'return t?j(e,t,$loose.fromOutside(a)):K(e,a),e.NR++,e.FNR++,'),
  change('return a.index=o,t?j(e,t,l):', 'return a.index=o,t?j(e,t,$loose.fromOutside(l)):'),
  change('return o.index=l,t?j(e,t,c):', 'return o.index=l,t?j(e,t,$loose.fromOutside(c)):'),
  change(
    'for(let r of $commands.orderedKeys(e,n)){if(e.vars[t.variable]=r,',
    'for(let r of $commands.orderedKeys(e,n)){if(e.vars[t.variable]=$loose.fromKey(r),',
  ),
  // A separator of one character was a pattern: `-F'|'` failed.
  change(
    'function De(e,t){if(e.FS=t,t===" ")e.fieldSep=new X(/\\s+/);else',
    'function De(e,t){if(e.FS=t,t===" ")e.fieldSep=new X(/\\s+/);else if(t.length===1)e.fieldSep=O(qe(t));else',
  ),
  change(
    'function je(e){if(e===" ")return O("\\\\s+");',
    'function je(e){if(e===" ")return O("\\\\s+");if(e.length===1)return O(qe(e));',
  ),
  // CONVFMT.
  change('if(n===" "){let l=v(r)+v(s);', 'if(n===" "){let l=v(r,e)+v(s,e);'),
  change('"assignment array key",()=>E(e,r.key)));', '"assignment array key",()=>E(e,r.key)),e);'),
  change('"assignment target array key",()=>E(e,r.key)));', '"assignment target array key",()=>E(e,r.key)),e);'),
  change('"inc/dec array key",()=>E(e,t.key)));', '"inc/dec array key",()=>E(e,t.key)),e);'),
  change('"in-expression key evaluation",()=>E(e,t)));', '"in-expression key evaluation",()=>E(e,t)),e);'),
  change('"delete key evaluation",()=>E(e,t.key)));', '"delete key evaluation",()=>E(e,t.key)),e);'),
];

/** `"a" "b" == "ab"` compared the second half. */
const SYNTAX_PATCHES: readonly BashPatch[] = [
  change('let t=this.parseConcatenation();if(this.check(i.IN))', 'let t=this.parseMatch();if(this.check(i.IN))'),
  change(
    'parseConcatenation(){let t=this.parseMatch();for(;this.canStartExpression()&&!this.isConcatTerminator();){let n=this.parseMatch();',
    'parseConcatenation(){let t=this.parseAddSub();for(;this.canStartExpression()&&!this.isConcatTerminator();){let n=this.parseAddSub();',
  ),
  change(
    'parseComparison(){let t=this.parseAddSub();for(;this.match(i.LT,i.LE,i.GT,i.GE,i.EQ,i.NE);){let n=this.advance(),r=this.parseAddSub();',
    'parseComparison(){return this.$comparisons(this.parseConcatenation())}$comparisons(t){for(;this.match(i.LT,i.LE,i.GT,i.GE,i.EQ,i.NE);){let n=this.advance(),r=this.parseConcatenation();',
  ),
  change('function We(e){let t=Jt(e);', 'function We(e){let t=Ve(e);'),
  change(
    'function Jt(e){let t=Ve(e);for(;en(e)&&!tn(e);){let n=Ve(e);',
    'function Jt(e){let t=e.parseAddSub();for(;en(e)&&!tn(e);){let n=e.parseAddSub();',
  ),
  change(
    'function ze(e){let t=e.parseAddSub();for(;e.match(h.LT,h.LE,h.GE,h.EQ,h.NE);){let n=e.advance(),r=e.parseAddSub();',
    'function ze(e){let t=Jt(e);for(;e.match(h.LT,h.LE,h.GE,h.EQ,h.NE);){let n=e.advance(),r=Jt(e);',
  ),
  // `2 ^ -1` was an error, as was `while ("command" | getline line > 0)`.
  change(
    'if(this.check(i.CARET)){this.advance();let n=this.withDepth(()=>this.parsePower());',
    'if(this.check(i.CARET)){this.advance();let n=this.withDepth(()=>this.match(i.MINUS,i.PLUS,i.NOT)?this.parseUnary():this.parsePower());',
  ),
  change(
    'return this.check(i.IDENT)&&(n=this.advance().value),{type:"getline",command:t,variable:n}}',
    'return this.check(i.IDENT)&&(n=this.advance().value),this.parseLogicalOrRest(this.$comparisons({type:"getline",command:t,variable:n}))}',
  ),
  // Arrays of arrays are named, where the error was a kind of token.
  change(
    'return{type:"array_access",array:t,key:r}}return t==="length"',
    'if(this.check(i.LBRACKET))throw new Error(`arrays of arrays (\\`${t}[…][…]\') are not supported: use \\`${t}[…, …]\'`);return{type:"array_access",array:t,key:r}}return t==="length"',
  ),
];

const FUNCTION_PATCHES: readonly BashPatch[] = [
  // An argument was bound before the next one was read, an array of a function outlived it, and one that calls itself
  // lost the array that it was given.
  change(
    'let r=Object.create(null);for(let l of t.params)r[l]=e.vars[l];let s=[];for(let l=0;l<t.params.length;l++){let c=t.params[l];if(l<n.length){let u=n[l];u.type==="variable"&&(e.arrayAliases.set(c,u.name),s.push(c));let f=await R(e,"user function argument evaluation",()=>E(e,u));e.vars[c]=f}else e.vars[c]=""}',
    'let $given=[];for(let u of n)$given.push(await R(e,"user function argument evaluation",()=>E(e,u)));let $arrays=n.map(u=>u.type==="variable"?Y(e,u.name):void 0),$frame=e.frames=(e.frames??0)+1,$saved=t.params.map(c=>[c,e.vars[c],e.arrayAliases.get(c)]);t.params.forEach((c,l)=>{e.arrayAliases.set(c,$arrays[l]??`${c}\\0${$frame}`),e.vars[c]=l<n.length?$given[l]:$loose.UNSET});',
  ),
  change(
    'for(let l of t.params)r[l]!==void 0?e.vars[l]=r[l]:delete e.vars[l];for(let l of s)e.arrayAliases.delete(l);',
    'for(let[c,$value,$alias]of $saved)Ge(e,`${c}\\0${$frame}`),$value===void 0?delete e.vars[c]:e.vars[c]=$value,$alias===void 0?e.arrayAliases.delete(c):e.arrayAliases.set(c,$alias);',
  ),
  // `split` kept blanks at the ends, took a pattern for a text, and said 1 of nothing.
  change(
    'let a=s.name,o=t.FS;if(e.length>=3){let f=e[2];if(f.type==="regex")o=O(f.pattern);else{let k=L(await n.evalExpr(f));o=k===" "?O("\\\\s+"):k}}else t.FS===" "&&(o=O("\\\\s+"));let l=Object.keys(t.arrays[a]??{}).length,c=t.maxArrayElements-t.arrayElementCount+l,u=typeof o=="string"?r.split(o,c+1):o.split(r,c+1);if(u.length>c)throw new w(`array element limit exceeded (${t.maxArrayElements})`,"array_elements");t.arrays[a]=Object.create(null);for(let f=0;f<u.length;f++)t.arrays[a][String(f+1)]=u[f];return t.arrayElementCount+=u.length-l,u.length}',
    'let a=Y(t,s.name),$by=e[2],{parts:u,between:$between}=$loose.splitParts(r,$by===void 0?t.FS:$by.type==="regex"?$by.pattern:L(await n.evalExpr($by)),$by?.type==="regex",$pattern=>O($pattern,"g")),c=t.maxArrayElements-t.arrayElementCount;Ge(t,a);$put(t,a,u,c);if(e[3]?.type==="variable")Ge(t,e[3].name),$put(t,Y(t,e[3].name),$between,c);return u.length}function $put(t,a,u,c){if(u.length>c)throw new w(`array element limit exceeded (${t.maxArrayElements})`,"array_elements");u.forEach(($part,$at)=>ye(t,a,String($at+1),$loose.fromOutside($part)))}',
  ),
];

const OUTPUT_PATCHES: readonly BashPatch[] = [
  // Each `printf` counted the bytes of all that had been printed, each `print > file` read and wrote the whole file.
  change('Math.max(0,e.maxOutputSize-V(e.output))', 'Math.max(0,e.maxOutputSize-e.output.length)'),
  change(
    'e.openedFiles.has(o)?await S(e,"redirection append write",()=>s.appendFile(o,r)):(',
    'e.openedFiles.has(o)?await $loose.hold(e,o,r):(',
  ),
  change(
    '(e.openedFiles.has(o)||e.openedFiles.add(o),await S(e,"redirection append mode write",()=>s.appendFile(o,r)))',
    'e.openedFiles.has(o)?await $loose.hold(e,o,r):(await S(e,"redirection append mode write",()=>s.appendFile(o,r)),e.openedFiles.add(o))',
  ),
  change('["fflush",()=>0]', '["fflush",async($args,$state)=>(await $loose.release($state),0)]'),
  change('let r=e.exec;if(!r)return-1;', 'let r=e.exec;if(!r)return-1;await $loose.release(e);'),
  change('let r=e.fs;if(!r||!e.cwd)return-1;', 'let r=e.fs;if(!r||!e.cwd)return-1;await $loose.release(e);'),
  change('if(m instanceof $awk.Stopped)return{', 'await $loose.release(A);if(m instanceof $awk.Stopped)return{'),
  // Numbers as awk writes them, `%u`, `%c` of a number of the input, and the number at the beginning of a text.
  change(
    'let W=e[u],y=t[A!==void 0?A:r];',
    'let W=e[u]==="u"?"d":e[u],y=t[A!==void 0?A:r];if(y!==void 0&&/[feEgGxXo]/.test(W))y=F(y);',
  ),
  change('let p=y!==void 0?String(y):"";', 'let p=y!==void 0?v(y):"";'),
  change(
    'c(typeof y=="number"?String.fromCharCode(y):',
    'if(y instanceof $loose.LooseNumber&&y!=="")y=F(y);c(typeof y=="number"?String.fromCodePoint(Math.max(0,Math.trunc(y))%1114112):',
  ),
];

export const AWK_VALUE_PATCHES: readonly BashPatch[] = [
  ...VALUE_PATCHES,
  ...SYNTAX_PATCHES,
  ...FUNCTION_PATCHES,
  ...OUTPUT_PATCHES,
];
