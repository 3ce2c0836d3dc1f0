// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of what is changed.
/**
 * Patches of what bash's language has and just-bash's has not: `select`, `caller`, `TIMEFORMAT`; and `coproc`, which
 * says why it is not there. bash-patches.ts applies them; `$select` is select-loops.ts, `$frames` call-frames.ts,
 * `$time` time-format.ts.
 */
import { ASK } from '../select-loops.ts';
import { type BashPatch, INTERPRETER_FILE } from './bash-patch.ts';

const change = (from: string, to: string): BashPatch => ({ file: INTERPRETER_FILE, from, to });

const NO_COPROC =
  'coproc: not supported in this sandbox: nothing runs beside a script with pipes to it. Use a pipeline, <(command), or a file and `&`';

const SELECT_PATCHES: readonly BashPatch[] = [
  change('let n=e.expect(E.FOR);', 'let $asks=e.check(E.SELECT),n=$asks?e.advance():e.expect(E.FOR);'),
  change('return M.forNode(s,i,o,a)}', 'let $loop=M.forNode(s,i,o,a);return $asks?$select.selectLoop($loop,Ge):$loop}'),
  change('case E.FOR:return wi(this);', 'case E.FOR:case E.SELECT:return wi(this);case E.COPROC:return $coproc(this);'),
  change('if(this.check(E.FOR))return wi(this,{', 'if(this.check(E.FOR,E.SELECT))return wi(this,{'),
  change(
    'case"While":return ep(e);',
    'case"While":return $select.writtenAs(e)?Yd($select.writtenAs(e)).replace("for","select"):ep(e);',
  ),
  change(
    'async function km(e,t,n,r){',
    'function km(e,t,n,r){let $menu=$select.writtenAs(t);return $menu?$select.withMenu(e.state,$menu,async()=>{let $words=[];if($menu.words===null)for(let $at=1;$at<=Number(e.state.env.get("#")??0);$at++)$words.push(e.state.env.get(String($at))??"");else for(let $word of $menu.words)De($words,(await gt(e,$word)).values,e.limits.maxArrayElements,"for-loop expansion");return $words},()=>$while(e,t,n,r)):$while(e,t,n,r)}async function $while(e,t,n,r){',
  ),
  change(
    'if(t==="read")return qo(c,n,s,a);',
    `if(t==="read")return qo(c,n,s,a);if(t==="${ASK}")return $select.ask(c.state,n,async()=>qo(c,[],s,a));if(t==="caller")return $frames.calledFrom(c.state,n);`,
  ),
];

/** The commands that ask are no part of the script that `set -x` shows. */
const UNSEEN_PATCHES: readonly BashPatch[] = [
  change('if($lines.isOwnFile(e.state,t,n))return', `if(t==="${ASK}")return"";if($lines.isOwnFile(e.state,t,n))return`),
];

/** A command of its own in its place, whatever stands behind it. */
const COPROC_PATCHES: readonly BashPatch[] = [
  change(
    'function wi(e,t){',
    'function $coproc(e){let $at=e.advance();e.check(E.NEWLINE,E.SEMICOLON,E.EOF)&&e.error(`syntax error near unexpected token \\`${e.check(E.NEWLINE,E.EOF)?"newline":";"}\'`);e.check(E.NAME,E.WORD)&&[E.LBRACE,E.LPAREN,E.WHILE,E.UNTIL,E.FOR,E.IF,E.CASE].includes(e.peek(1).type)&&e.advance();e.parseCommand();return{...M.simpleCommand(M.word([M.literal("coproc")]),[],[],[]),line:e.getSourceLine($at)}}function wi(e,t){',
  ),
  change(
    'if(t==="exec"){if(n.length===0)',
    `if(t==="coproc")return D("bash: ${NO_COPROC}\\n");if(t==="exec"){if(n.length===0)`,
  ),
];

const FRAME_PATCHES: readonly BashPatch[] = [
  change(
    'e.state.funcNameStack||(e.state.funcNameStack=[]),e.state.callLineStack||(e.state.callLineStack=[]),e.state.sourceStack||(e.state.sourceStack=[]),e.state.funcNameStack.unshift(t.name),e.state.callLineStack.unshift(s??e.state.currentLine),e.state.sourceStack.unshift(t.sourceFile??"main"),',
    '$frames.enter(e.state,t.name,s??e.state.currentLine,t.sourceFile??"environment"),',
  ),
  change(
    'e.state.funcNameStack?.shift(),e.state.callLineStack?.shift(),e.state.sourceStack?.shift(),e.state.callDepth--}',
    '$frames.leave(e.state),e.state.callDepth--}',
  ),
  change('t.sourceFile??e.state.currentSource??"main"}', 't.sourceFile??e.state.currentSource??"environment"}'),
  change(
    'e.state.currentSource=r,(e.state.sourceStack??=[]).unshift(r);try{',
    'e.state.currentSource=r,$frames.enter(e.state,"source",e.state.currentLine,r);try{',
  ),
  change(
    'l=()=>{if(e.state.sourceStack?.shift(),e.state.sourceDepth--,',
    'l=()=>{if($frames.leave(e.state),e.state.sourceDepth--,',
  ),
];

const TIME_PATCHES: readonly BashPatch[] = [
  change('$broken=!1,r=t.timed?ei():0,', '$broken=!1,$begun=t.timed?$time.begin():null,r=t.timed?ei():0,'),
  change(
    ',i={...i,stderr:i.stderr+k}}u&&!e.state.shoptOptions.lastpipe',
    ',k=$lines.placed(e.state,$time.spent($begun,e.state.env.get("TIMEFORMAT"),t.timePosix),"time",!1),i={...i,stderr:i.stderr+k}}u&&!e.state.shoptOptions.lastpipe',
  ),
];

export const LANGUAGE_PATCHES: readonly BashPatch[] = [
  ...COPROC_PATCHES,
  ...SELECT_PATCHES,
  ...UNSEEN_PATCHES,
  ...FRAME_PATCHES,
  ...TIME_PATCHES,
];
