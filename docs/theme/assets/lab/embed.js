// A page within another: once all else is hidden, its first widget is in view, and comes.
import { styles } from "./lab.js"

export const mount = () => styles("embed.css")
