# Variance components by lme4, for components_reference.py.
suppressMessages(library(lme4))
folder <- commandArgs(trailingOnly = TRUE)[1]
tight <- lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-9, maxfun = 1e5))
for (name in c("balanced", "unbalanced", "one judging", "no judges")) {
  d <- read.csv(file.path(folder, paste0(name, ".csv")))
  for (f in c("t", "a", "j", "s")) d[[f]] <- factor(d[[f]])
  again <- nlevels(d$s) > 1
  model <- if (again) y ~ 1 + (1|t) + (1|t:a) + (1|j) + (1|t:j) + (1|t:a:j) + (1|s) else
    y ~ 1 + (1|t) + (1|t:a) + (1|j) + (1|t:j)
  v <- as.data.frame(VarCorr(suppressMessages(suppressWarnings(lmer(model, d, control = tight)))))
  value <- setNames(v$vcov, v$grp)
  shown <- value[c("t", "t:a", "j", "t:j", "t:a:j", "s", "Residual")]
  text <- ifelse(is.na(shown), "None", sprintf("%.9f", shown))
  cat(sprintf('    "%s": (%s),\n', name, paste(text, collapse = ", ")))
}
