"""What replaces what. Each module decides in its own way; one mechanism for all of them is to come.

module           asked by                about                          what decides
learned_facts    the pipeline, by batch  a fact against one that holds  rights, then whether the reader says it renews
ended_facts      the pipeline, by batch  a fact that ends, no new one   a clause like a known ending, then the reader
changed_plans    the pipeline, by batch  an event moved, or called off  grammar says which, the reader whether
newer_answers    recall and answers      an older turn that answers     the reader; of replies a curve over it

Whether something happened, is denied or only supposed, says `write/modality.py` to all of them.
"""
