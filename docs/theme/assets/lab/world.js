// The world of the course: all that a small actor can write to one prompt, as
// ppo_ref.examples.world has it. Nothing here touches the page: node compares all of it
// with ppo_ref (tests/site/lab/test_strip.py).

// Word in English, in Chinese, log-prob of the actor, of the reference; a word that is
// indented goes on from the one above it. "rest" is what its siblings leave.
export const TREE = `\
Yes             是的     -0.12     -0.15
 ,              ，       -0.08     -0.10
  1+1           1+1      -0.15     -0.18
   =            =        -0.10     -0.12
    2           2        -0.05     -0.08
     <eos>      <eos>    -0.02     -0.03
     ,          ，       rest      rest
    3           3        rest      rest
     <eos>      <eos>    0         0
   is           等于     rest      rest
    2           2        ln(0.6)   ln(0.5)
     <eos>      <eos>    0         0
    3           3        rest      rest
     <eos>      <eos>    0         0
  it's          就是     rest      rest
   2            2        ln(0.75)  ln(0.7)
    <eos>       <eos>    0         0
   3            3        rest      rest
    <eos>       <eos>    0         0
 !              ！       rest      rest
  2             2        ln(0.5)   ln(0.4)
   <eos>        <eos>    0         0
  <eos>         <eos>    rest      rest
No              没       -2.20     -2.00
 idea           学过     -0.70     -0.65
  .             。       -0.12     -0.07
   <eos>        <eos>    -0.10     -0.09
   Maybe        大概     rest      rest
    2           2        0         0
     <eos>      <eos>    0         0
  ,             ，       rest      rest
   maybe        大概     0         0
    2           2        0         0
     <eos>      <eos>    0         0
 problem        问题     rest      rest
  ,             ，       0         0
   2            2        0         0
    <eos>       <eos>    0         0
Let             让       rest      rest
 us             我们     0         0
  think         一步     0         0
   step         一步     0         0
    by          地       0         0
     step       想       0         0`
// Where the critic is not right to two digits.
const CRITIC_ERRORS = { No: 0.4, "Yes , 1+1 =": 0.92, "Yes , 1+1 = 2": 0.95 }
export const EOS = "<eos>"
export const LIMIT = 6 // tokens of an answer, the end included
export const PROMPT = { zh: "你知道1+1=几吗？", en: "Do you know what 1+1 is?" }

const probability = (cell) => cell.startsWith("ln(") ? Number(cell.slice(3, -1)) : Math.exp(Number(cell))

// The nodes of the tree: a node is what has been written so far, the first the prompt.
const grow = () => {
  const root = { prefix: "", depth: 0, children: [], actor: 1, reference: 1 }
  const path = [root]
  for (const line of TREE.split("\n")) {
    const depth = line.length - line.trimStart().length + 1
    const [en, zh, actor, reference] = line.trim().split(/\s+/)
    const parent = path[depth - 1]
    const node = { en, zh, actor, reference, parent, depth, children: [], prefix: `${parent.prefix} ${en}`.trim() }
    parent.children.push(node)
    path[depth] = node
  }
  return root
}

const share = (node) => {
  for (const policy of ["actor", "reference"]) {
    let left = 1
    for (const child of node.children) {
      if (child[policy] === "rest") continue
      child[policy] = probability(child[policy])
      left -= child[policy]
    }
    for (const child of node.children) if (child[policy] === "rest") child[policy] = left
  }
  node.children.forEach(share)
}

// The score of an answer: 1 if it has ended and its last number is 2.
const score = ({ en, prefix }) => +(en === EOS && prefix.match(/\d+/g)?.at(-1) === "2")

// The mean score of what goes on from a node, under the actor.
const judge = (node) => {
  node.exact = node.children.length
    ? node.children.reduce((sum, child) => sum + child.actor * judge(child), 0)
    : score(node)
  return node.exact
}

export const ROOT = grow()
share(ROOT)
judge(ROOT)

const leaves = (node) => node.children.length ? node.children.flatMap(leaves) : [node]
// The tokens that lead to a node.
export const path = (node) => node.parent ? [...path(node.parent), node] : []

// Tokens as one writes them, without the end.
export const sentence = (tokens, lang) => tokens.map((token) => token[lang]).filter((token) => token !== EOS)
  .join(lang === "zh" ? "" : " ").replace(/ ([,.!])/g, "$1")

// Each answer: its tokens, the nodes that each was written after, its probability, its
// score. The order is that of ppo_ref.
export const ANSWERS = leaves(ROOT).map((leaf) => {
  const tokens = path(leaf)
  return { tokens, before: tokens.map((token) => token.parent), score: leaf.exact,
    probability: tokens.reduce((product, token) => product * token.actor, 1) }
})

// What the critic says after a prefix, unless it is told what to say.
export const criticValue = ({ prefix, exact }, says = {}) =>
  says[prefix] ?? CRITIC_ERRORS[prefix] ?? Math.round(exact * 100) / 100
