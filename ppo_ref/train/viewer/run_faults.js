// What the run viewer says of files that it cannot read, or not in full.
import { lang } from "./lab.js"

const WORDS = {
  zh: {
    rest: "另有 {} 处也略去了。",
    faults: {
      object: "每行必须是一个 JSON 对象，这里是 {got}", iteration: "iteration 必须是 1 到 1000000 的整数，这里是 {got}",
      number: "{name} 必须是有限的数，这里是 {got}", length: "{name} 必须每个 token 一个数，共 {must} 个，这里有 {got} 个",
      answer: "要有 question 和逐 token 的 response，这里是 {got}", nothing: "必须每行是一轮的统计量，这里是 {got}",
      iterations: "第一行说有 {must} 轮，这里到第 {got} 轮就断了", missing: "必须有这个文件，这里只有 {got}",
      json: "必须是完整的 JSON，这里断在 {got}", dump: "必须是一个对象，里面按名字放 values、advantages 等二维列表，这里是 {got}",
      table: "{name} 必须是由行组成的列表，这里是 {got}", mask: "必须有 response_mask 或 attention_mask，这里只有 {got}；所有格子都显示了",
      slots: "{name} 必须有 {must} 格，这里有 {got} 格", unread: "读不出来：{got}", many: "一次打开一次或两次训练，这里有 {got}",
    },
    line: "{file} 第 {line} 行：", file: "{file}：",
  },
  en: {
    rest: "{} more places were left out.",
    faults: {
      object: "a line must be a JSON object, got {got}", iteration: "iteration must be a whole number from 1 to 1000000, got {got}",
      number: "{name} must be a finite number, got {got}", length: "{name} must have a number for each of {must} tokens, got {got}",
      answer: "there must be a question and a response, token by token, got {got}", nothing: "each line must hold the figures of an iteration, got {got}",
      iterations: "the first line promises {must} iterations, and the file ends after {got}", missing: "this file must be there, got {got}",
      json: "must be JSON to its end, and ends in {got}", dump: "must be an object with lists of rows by name, as values and advantages, got {got}",
      table: "{name} must be a list of rows, got {got}", mask: "must hold response_mask or attention_mask, got {got}; every slot is shown",
      slots: "{name} must have {must} slots, got {got}", unread: "cannot be read: {got}", many: "open one run or two at once, got {got}",
    },
    line: "{file}, line {line}: ", file: "{file}: ",
  },
}[lang]
const SHOWN = 3

const sentence = (fault) => ((fault.file ? WORDS[fault.line ? "line" : "file"] : "") + WORDS.faults[fault.key])
  .replace(/\{(\w+)\}/g, (_, name) => fault[name])

export const told = (faults) => [
  ...faults.slice(0, SHOWN).map(sentence),
  ...faults.length > SHOWN ? [WORDS.rest.replace("{}", faults.length - SHOWN)] : [],
]
