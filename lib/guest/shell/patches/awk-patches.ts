// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of what is changed.
/**
 * Patches of just-bash's awk towards gawk's commands and functions. bash-patches.ts applies them; `$commands` is
 * awk-commands.ts. The others are in bash-command-patches.ts.
 */
import { AWK_FILE, type BashPatch } from './bash-patch.ts';

export const AWK_PATCHES: readonly BashPatch[] = [
  // `int` and `%d` of a negative number were the next lower one, and `%d` of `3 apples` was 0.
  {
    file: AWK_FILE,
    from: 'Math.floor(F(await n.evalExpr(e[0])))}async function ht',
    to: 'Math.trunc(F(await n.evalExpr(e[0])))}async function ht',
  },
  {
    file: AWK_FILE,
    from: 'case"d":case"i":{let p=y!==void 0?Math.floor(Number(y)):0;',
    to: 'case"d":case"i":{let p=y!==void 0?Math.trunc(F(y)):0;',
  },
  // `name=value` between the files, and `-`, were names of files.
  {
    file: AWK_FILE,
    from: 'if(c.length>0)for(let g of c){let d;try{',
    to: 'let $assigned=$name=>/^([A-Za-z_]\\w*)=(.*)$/s.exec($name);if(c.length>0)for(let g of c.every($assigned)?[...c,"-"]:c){let d,$set=$assigned(g);if($set){j(A,$set[1],$loose.fromOutside(Se($set[2])));continue}if(g==="-"){if(await n("stdin processing",()=>N(c.includes("-")?"-":"",ee(t.stdin))),A.shouldExit)break;continue}try{',
  },
  { file: AWK_FILE, from: '["function",i.FUNCTION],', to: '["function",i.FUNCTION],["func",i.FUNCTION],' },
  // `print | "command"`, `close` and `system`.
  {
    file: AWK_FILE,
    from: 'exec:C?m=>n("command pipe exec",()=>C(m,{',
    to: 'exec:C?(m,$input)=>n("command pipe exec",()=>C(m,{stdin:$input,',
  },
  {
    file: AWK_FILE,
    from: 't===">"?e.openedFiles.has(o)?await',
    to: 'if(t==="|")return $commands.writeTo(e,a,r);t===">"?e.openedFiles.has(o)?await',
  },
  {
    file: AWK_FILE,
    from: 't.push(ue(e));let n;return e.check(h.GT)?(',
    to: 't.push(ue(e));let n;return e.check(h.PIPE)?(e.advance(),n={redirect:"|",file:e.parseConcatenation()}):e.check(h.GT)?(',
  },
  {
    file: AWK_FILE,
    from: 'let s;return e.check(h.GT)?(',
    to: 'let s;return e.check(h.PIPE)?(e.advance(),s={redirect:"|",file:e.parseConcatenation()}):e.check(h.GT)?(',
  },
  {
    file: AWK_FILE,
    from: '["system",wt("system","shell execution not allowed in sandboxed environment")],["close",()=>0]',
    to: '["system",async($args,$state,$run)=>$commands.system($state,L(await $run.evalExpr($args[0])))],["close",async($args,$state,$run)=>$commands.close($state,L(await $run.evalExpr($args[0])))],["asort",$sorted(!1)],["asorti",$sorted(!0)]',
  },
  {
    file: AWK_FILE,
    from: 'async executeEnd(){',
    to: 'async executeEnd(){await this.$executeEnd(),await $commands.closeAll(this.ctx),await $loose.release(this.ctx)}async $executeEnd(){',
  },
  {
    file: AWK_FILE,
    from: 'if(!he&&!W)return{stdout:T.getOutput(),stderr:"",',
    to: 'if(!he&&!W)return await $commands.closeAll(A),await $loose.release(A),{stdout:T.getOutput(),stderr:A.errors??"",',
  },
  // `print > "/dev/stderr"` was an error.
  {
    file: AWK_FILE,
    from: 'let a=v(await S(e,"redirection filename evaluation",()=>E(e,n))),',
    to: 'let a=v(await S(e,"redirection filename evaluation",()=>E(e,n)));if($commands.toStandard(e,t,a,r))return;let ',
  },
  {
    file: AWK_FILE,
    from: 'after BEGIN exit",()=>T.executeEnd()),{stdout:T.getOutput(),stderr:"",',
    to: 'after BEGIN exit",()=>T.executeEnd()),{stdout:T.getOutput(),stderr:A.errors??"",',
  },
  {
    file: AWK_FILE,
    from: 'stderr:"",exitCode:T.getExitCode()}}catch(m){',
    to: 'stderr:A.errors??"",exitCode:T.getExitCode()}}catch(m){',
  },
  {
    file: AWK_FILE,
    from: 'return{stdout:T.getOutput(),stderr:`awk: ${y}',
    to: 'return{stdout:T.getOutput(),stderr:`${A.errors??""}awk: ${y}',
  },
  // `match` with an array left that empty.
  {
    file: AWK_FILE,
    from: 'try{let o=O(s).exec(r);if(o)return t.RSTART=',
    to: 'try{let o=O(s).exec(r);if(e[2]?.type==="variable"){Ge(t,e[2].name);for(let[$key,$value]of $commands.groupsOf(o))ye(t,e[2].name,$key,typeof $value==="string"?$loose.fromOutside($value):$value)}if(o)return t.RSTART=',
  },
  {
    file: AWK_FILE,
    from: 'async function at(e,t,n){',
    to: 'function $sorted($byKey){return async(e,t)=>{if(e[0]?.type!=="variable")return 0;let $values=$commands.sorted(t.arrays[Y(t,e[0].name)]??{},$byKey),$name=(e[1]??e[0]).name;return Ge(t,$name),$values.forEach(($value,$at)=>ye(t,$name,String($at+1),$value)),$values.length}}async function at(e,t,n){',
  },
  // `for (key in array)` and `split` knew no array that is an argument of a function, and no `PROCINFO["sorted_in"]`.
  {
    file: AWK_FILE,
    from: 'let n=e.arrays[t.array];if(n)for(let r of Object.keys(n)){',
    to: 'let n=e.arrays[Y(e,t.array)];if(n)for(let r of $commands.orderedKeys(e,n)){',
  },
  {
    file: AWK_FILE,
    from: 'let g=p.toFixed(N);if(k){let d=parseInt(k,10);f.includes("-")?g=g.padEnd(d):g=g.padStart(d)}',
    to: 'let g=$exact.fixed(Math.abs(p),N),$sign=p<0||Object.is(p,-0)?"-":f.includes("+")?"+":f.includes(" ")?" ":"",$wide=k?parseInt(k,10):0;g=f.includes("-")?($sign+g).padEnd($wide):f.includes("0")?$sign+g.padStart($wide-$sign.length,"0"):($sign+g).padStart($wide);',
  },
  // A reference makes an element, as `seen[$1]` alone does.
  {
    file: AWK_FILE,
    from: 'E(e,t.key)));return ae(e,t.array,n)}async function At(',
    to: 'E(e,t.key)),e);let $name=Y(e,t.array);if($name!=="ENVIRON"&&$name!=="PROCINFO"&&!(e.arrays[$name]&&n in e.arrays[$name]))ye(e,t.array,n,$loose.UNSET);return ae(e,t.array,n)}async function At(',
  },
];
