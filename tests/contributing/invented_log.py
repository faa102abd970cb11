"""An invented log that holds all that is easily mistaken in a real one."""

LOG = r"""# Chat Dialogue Log

## 对话时间
2026-03-01 20:15:00

---

## 对话内容

### 问题 1
用户：@[verl/trainer/ppo/ray_trainer.py] 好的！我看了“1+1=2？”的例子。
values 为什么要左移一格？请结合代码。  
助手：## 1. 结论 { #answer }

左移是因为 \(V(s_t)\) 在 token 之前，约为 0.85，误差 12.5%，
见 `verl/core_algos.py:93` / `:100`。

### 1.1 公式

- 写成
  \[
  \delta_t = r_t + 0.95 V_{t+1}
  \]  
  见 ray_trainer.py第774-776行，`lam = 0.95`。

| 步 | 值 |
|----|----|
| 一 | 7 |
小标题
---
<script>alert(1)</script> ![图](http://example.invalid/a.png) {: onclick="x" }

```python title="a.py"
# core_algos.py:105
values = values[:, -T-1:-1]  # \(不动\)
```
~~~
score 0.75
~~~~
```cpp
int main() {}
```

---

### 问题 2
用户：```
A = [0.7, 0.6, 0.4]
### 问题 3
用户：<question>
助手：<answer>
```
Where do these figures come from?
助手：From `G - V`; see lines 10-12 of verl/a.py. $$ x $$ and $ y $.

---
The rule above is part of the answer.

```pycon
>>> 1 + 1
2
```
```python
import os

```

---

### 问题 3
用户：好的！给出示例
助手：比如 0.5。

---

### 问题 4
用户：我还是没懂。请再解释一遍。
助手：再说一遍。

---

### 问题 5
用户：我看了“1+1=2？”的例子。values 为什么要左移一个格？请结合代码。
助手：同上。

---

### 问题 6
用户：请将本次对话写入一个 Markdown 文件，格式：
~~~  
### 问题 1  
用户：<第一个问题>  
~~~  
助手：<当前回答内容>"""
